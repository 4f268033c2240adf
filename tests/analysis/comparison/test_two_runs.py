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


MOODS = {1: 0.0, 2: 0.0, 3: -0.69}
"""The effect of a block on all conditions; the third block is slow."""


def moody(run: Analysis, rounds: int, fresh: str = "deployment", **sources: int) -> Analysis:
    """The run with trials of known log throughput: the condition's, the round's and the block's."""
    pattern = run.trials[0]
    trials = [
        pattern.model_copy(
            update={
                "condition": name,
                "round": round_,
                "block": block,
                "values": {"throughput": math.exp(level + 0.01 * round_ + mood)},
            }
        )
        for round_ in range(1, rounds + 1)
        for block, mood in MOODS.items()
        for name, level in (("native", 8.0), ("docker", 7.9), ("bridge", 7.8))
    ]
    study = {**run.provenance["study"], "design": {"fresh": fresh}}
    provenance = {**run.provenance, "study": study, "sources": sources}
    return run.model_copy(update={"trials": trials, "provenance": provenance})


def without(run: Analysis, *cells: tuple[str, int, int]) -> Analysis:
    kept = [t for t in run.trials if (t.condition, t.round, t.block) not in cells]
    return run.model_copy(update={"trials": kept})


def test_a_condition_does_not_gain_by_having_missed_a_slow_block(quickstart: Analysis) -> None:
    run = moody(quickstart, rounds=2)
    whole = sides_of(run)["throughput"]
    assert whole["docker"].logs == pytest.approx([7.9 + 0.01 - 0.23, 7.9 + 0.02 - 0.23])
    lacking = sides_of(without(run, ("docker", 1, 3)))["throughput"]
    for name, side in whole.items():
        assert lacking[name].logs == pytest.approx(side.logs)


def test_nor_a_slow_round(quickstart: Analysis) -> None:
    run = moody(quickstart, rounds=3)
    gone = [("docker", 1, block) for block in MOODS]
    lacking = sides_of(without(run, *gone))["throughput"]["docker"]
    assert lacking.mean == pytest.approx(7.9 + 0.02 - 0.23)
    assert len(lacking.logs) == 2


@pytest.mark.parametrize("fresh", ["deployment", "block"])
def test_nor_where_blocks_are_the_units(quickstart: Analysis, fresh: str) -> None:
    """The interval is as wide as before: the measurements stay as far apart."""
    run = without(moody(quickstart, rounds=1, fresh=fresh), ("docker", 1, 3))
    found = sides_of(run)["throughput"]["docker"]
    assert (found.unit, found.single) == ("block", fresh == "deployment")
    assert found.mean == pytest.approx(7.9 + 0.01 - 0.23)
    assert found.logs[0] == pytest.approx(found.logs[1])


def test_imported_repetitions_share_no_block(quickstart: Analysis) -> None:
    run = without(moody(quickstart, rounds=1, ycsb=9), ("docker", 1, 3))
    found = sides_of(run.model_copy(update={"effects": []}))["throughput"]["docker"]
    assert found.unit == "repetition"
    assert found.mean == pytest.approx(7.9 + 0.01)


def test_conditions_without_a_block_in_common_keep_their_means(quickstart: Analysis) -> None:
    gone = [(name, r, 3) for name in ("docker", "bridge") for r in (1, 2)]
    gone += [("native", r, b) for r in (1, 2) for b in (1, 2)]
    found = sides_of(without(moody(quickstart, rounds=2), *gone))["throughput"]
    assert found["native"].mean == pytest.approx(8.0 + 0.015 - 0.69)
    assert found["docker"].mean == pytest.approx(7.9 + 0.015)


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
