"""Latency distributions as a tail plot needs them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.analysis.distributions import LADDER
from tests.synthetic_run import write_run

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis


def test_the_ladder_is_even_on_a_tail_plots_axis() -> None:
    assert LADDER[0] == 0
    assert LADDER[-1] == pytest.approx(99.99)
    assert any(p == pytest.approx(99) for p in LADDER)
    assert sorted(LADDER) == LADDER
    tail = [-math.log10(1 - p / 100) for p in LADDER if p >= 90]
    steps = [b - a for a, b in pairwise(tail)]
    assert steps == pytest.approx([1 / 14] * len(steps))
    assert 55 <= len(LADDER) <= 65


def test_quantiles_rise_and_operations_add_up(quickstart: Analysis) -> None:
    conditions = list(dict.fromkeys(d.condition for d in quickstart.distributions))
    assert conditions == [c.condition for c in quickstart.conditions]
    for condition in conditions:
        own = {
            (d.operation, d.kind): d for d in quickstart.distributions if d.condition == condition
        }
        assert len(own) == 6
        whole = own["ALL", "response"]
        assert whole.count == own["READ", "response"].count + own["UPDATE", "response"].count
        values = [value for _, value in whole.quantiles]
        assert values == sorted(values)
        assert [p for p, _ in whole.quantiles][-1] == pytest.approx(99.99)


def test_bands_are_intervals_over_deployments_around_the_curve(quickstart: Analysis) -> None:
    for one in quickstart.distributions:
        assert one.band, "three deployments"
        quantiles = dict(one.quantiles)
        for percentile, low, high in one.band:
            assert low <= high
            if 50 <= percentile <= 90:
                assert low * 0.8 < quantiles[percentile] < high * 1.25
        assert len(one.band) <= len(one.quantiles), "a trial resolves less than all together"


def test_two_deployments_have_no_band(tmp_path: Path) -> None:
    run = write_run(tmp_path / "two", deployments=2, measure_s=2)
    assert all(one.band == [] for one in analyse(run).distributions)
