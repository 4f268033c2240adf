"""Means over independent units of two runs, and the interval of their ratio."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from tare.analysis.analyse import analyse
from tare.analysis.comparison.two_runs import ConditionSide, combined, sides_of, unit_of, welch
from tests.synthetic_run import write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis


def side(*logs: float, single: bool = False) -> ConditionSide:
    return ConditionSide(list(logs), "block" if single else "deployment", single)


def test_the_interval_is_welchs() -> None:
    a, b = [0.10, 0.12, 0.17, 0.08], [0.31, 0.45, 0.22]
    found = welch(side(*a), side(*b))
    assert found is not None
    expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert found.interval(0.95) == pytest.approx((expected.low, expected.high))
    assert "4 deployments in A and 3 deployments in B" in found.method


def test_fewer_than_two_units_on_a_side_give_no_interval() -> None:
    assert welch(side(0.1), side(0.2, 0.3)) is None
    assert welch(side(0.1, 0.2), side(0.3)) is None


def test_one_deployment_on_either_side_makes_it_conditional() -> None:
    one = welch(side(0.1, 0.2, single=True), side(0.2, 0.3))
    assert one is not None
    assert one.conditional
    assert "cannot be told apart" in one.method


def test_sides_without_any_spread_still_have_an_interval() -> None:
    found = welch(side(0.1, 0.1), side(0.2, 0.2))
    assert found is not None
    assert found.log_ratio == pytest.approx(0.1)
    assert all(math.isfinite(end) for end in found.interval(0.95))


def test_combined_degrees_of_freedom_lie_between_the_smaller_and_the_sum() -> None:
    se, df = combined((0.01**2, 3), (0.01**2, 5))
    assert se == pytest.approx(math.sqrt(2) * 0.01)
    assert 3 < df < 8
    assert combined((0.01**2, math.inf), (0.02**2, math.inf))[1] == math.inf


def test_with_a_life_per_round_the_units_are_rounds(quickstart: Analysis) -> None:
    found = sides_of(quickstart)["throughput"]["native"]
    first = [
        math.log(t.values["throughput"])
        for t in quickstart.trials
        if t.condition == "native" and t.round == 1
    ]
    assert unit_of(quickstart) == "deployment"
    assert len(found.logs) == 3
    assert found.logs[0] == pytest.approx(np.mean(first))


def test_with_a_life_per_block_the_units_are_blocks(tmp_path: Path) -> None:
    run = analyse(
        write_run(
            tmp_path / "run",
            effects={"native": Truth()},
            fresh="block",
            deployments=2,
            blocks=3,
            measure_s=2,
        )
    )
    found = sides_of(run)["throughput"]["native"]
    assert (found.unit, len(found.logs), found.single) == ("block", 6, False)


def test_repetitions_of_tares_own_runs_are_deployments_not_trials(quickstart: Analysis) -> None:
    """With `pairing: none` effects count repetitions; one life of a cluster is one of them."""
    effects = [e.model_copy(update={"unit_of_analysis": "repetition"}) for e in quickstart.effects]
    run = quickstart.model_copy(update={"effects": effects})
    assert len(sides_of(run)["throughput"]["native"].logs) == 3


@pytest.mark.parametrize("unit", ["repetition", "block"])
def test_every_imported_trial_is_a_unit_paired_or_not(quickstart: Analysis, unit: str) -> None:
    effects = [e.model_copy(update={"unit_of_analysis": unit}) for e in quickstart.effects]
    provenance = {**quickstart.provenance, "sources": {"ycsb": 24}}
    run = quickstart.model_copy(update={"effects": effects, "provenance": provenance})
    found = sides_of(run)["throughput"]["native"]
    assert (found.unit, found.single) == (unit, False)
    assert len(found.logs) == sum(t.condition == "native" for t in run.trials)


def test_95_percent_intervals_hold_the_truth_in_about_95_percent_of_pairs_of_runs() -> None:
    """2,000 pairs of 3 deployments, one side twice as noisy: standard error of the rate 0.5%."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(2000):
        a = rng.normal(0.0, 0.02, 3)
        b = rng.normal(0.1, 0.04, 3)
        found = welch(side(*a), side(*b))
        assert found is not None
        low, high = found.interval(0.95)
        hits += low < 0.1 < high
    assert 0.93 <= hits / 2000 <= 0.98
