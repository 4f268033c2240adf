"""A known cost of counting is found, whatever else differs between trials."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from bench.counting_cost import SHOWN, difference


def trials(dearer: float, own_us: float) -> list[list[dict[str, Any]]]:
    """Unlike servers; a slice with counts is this much dearer, and takes Tare this long."""
    generator = random.Random(3)  # noqa: S311 - an order, no secret

    def line(speed: float) -> dict[str, Any]:
        counted = generator.random() < 0.5
        used = speed * (1 + dearer * counted)
        return {
            "ops": 1000, "ops_per_s": 5000.0, "seconds": 0.25, "late": False,
            "units_cpu_s": {"n1": 0.08 * used, "c1": 0.02 * used}, "engine_cpu_s": 0.0,
            "kernel_cpu_s": 0.0, "tare_cpu_s": 1e-3 + 1e-6 * own_us * counted,
            "counts": {"packets": 5} | ({"server_faults": 1} if counted else {}),
        }  # fmt: skip

    return [[line(speed) for _ in range(40)] for speed in (0.8, 1.0, 1.3, 1.7)]


def test_a_known_cost_is_found_beside_what_differs_between_trials() -> None:
    made = trials(0.01, 150.0)
    found = {name: difference(made, of) for name, of in SHOWN.items()}
    demand, own = found["service demand, %"], found["Tare's own CPU time a slice, us"]
    assert demand is not None
    assert own is not None
    assert demand.value == pytest.approx(100 * math.log(1.01))
    assert own.value == pytest.approx(150.0)


def test_a_run_whose_slices_are_all_alike_tells_nothing() -> None:
    made = [[{**line, "counts": {}} for line in own] for own in trials(0.0, 0.0)]
    assert difference(made, SHOWN["service demand, %"]) is None
