"""Effects and intervals: units of analysis, pooling, gaps, one deployment only."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tare.analysis.inference.estimates import Logs, estimate, make_stratum


def logs_of(
    deployments: int = 3, blocks: int = 4, conditions: int = 4, sd: float = 0.05, seed: int = 1
) -> Logs:
    """Conditions base, c1, c2, ...; c1 is 10% slower, the others are alike."""
    rng = np.random.default_rng(seed)
    names = ["base", *(f"c{i}" for i in range(1, conditions))]
    effect = {"c1": math.log(0.9)}
    return {
        name: {
            (r, b): effect.get(name, 0.0) + float(rng.normal(0, sd))
            for r in range(1, deployments + 1)
            for b in range(1, blocks + 1)
        }
        for name in names
    }


def round_differences(logs: Logs, treatment: str) -> list[float]:
    rounds = sorted({r for r, _ in logs["base"]})
    return [
        float(np.mean([y - logs["base"][c] for c, y in logs[treatment].items() if c[0] == r]))
        for r in rounds
    ]


def test_the_unit_of_analysis_is_the_deployment() -> None:
    logs = logs_of()
    found = estimate(make_stratum(logs, "base", by_deployment=True), "c1")
    assert found is not None
    own = round_differences(logs, "c1")
    assert (found.unit, found.units, found.df) == ("deployment", 3, 6)
    assert found.log_ratio == pytest.approx(np.mean(own))
    assert len(found.pairs) == 12
    assert found.unpooled is not None
    se, df = found.unpooled
    reference = stats.ttest_1samp(own, 0).confidence_interval(0.95)
    half = stats.t.ppf(0.975, df) * se
    assert np.mean(own) - half == pytest.approx(reference.low)


def test_the_pooled_variance_is_that_of_condition_by_deployment() -> None:
    logs = logs_of()
    found = estimate(make_stratum(logs, "base", by_deployment=True), "c1")
    assert found is not None
    means = np.array(
        [
            [np.mean([cells[r, b] for b in range(1, 5)]) for r in (1, 2, 3)]
            for cells in logs.values()
        ]
    )
    residuals = means - means.mean(1, keepdims=True) - means.mean(0) + means.mean()
    assert found.se == pytest.approx(math.sqrt((residuals**2).sum() / 6 * 2 / 3))
    assert "pooled over 4 conditions" in found.method


def test_many_blocks_of_few_deployments_do_not_shrink_the_interval() -> None:
    """Blocks repeated without any noise add nothing to what the deployments say."""
    few = logs_of(blocks=1, seed=3)
    many = {n: {(r, b): y for (r, _), y in c.items() for b in range(1, 51)} for n, c in few.items()}
    narrow = estimate(make_stratum(many, "base", by_deployment=True), "c1")
    plain = estimate(make_stratum(few, "base", by_deployment=True), "c1")
    assert narrow is not None
    assert plain is not None
    assert narrow.interval(0.95) == pytest.approx(plain.interval(0.95))


def test_fresh_clusters_in_every_block_make_the_block_the_unit() -> None:
    found = estimate(make_stratum(logs_of(), "base", by_deployment=False), "c1")
    assert found is not None
    assert (found.unit, found.units, found.df) == ("block", 12, 3 * 11)
    assert not found.conditional


def test_one_deployment_gives_an_interval_that_says_what_it_is() -> None:
    stratum = make_stratum(logs_of(deployments=1), "base", by_deployment=True)
    alone = estimate(stratum, "c1")
    assert alone is not None
    assert (alone.unit, alone.units, alone.conditional) == ("block", 4, True)
    assert "cannot be told apart" in alone.method
    shared = estimate(stratum, "c1", shared=True)
    assert shared is not None
    assert not shared.conditional


def test_two_conditions_are_a_paired_t() -> None:
    logs = logs_of(conditions=2)
    found = estimate(make_stratum(logs, "base", by_deployment=True), "c1")
    assert found is not None
    reference = stats.ttest_1samp(round_differences(logs, "c1"), 0).confidence_interval(0.95)
    assert found.interval(0.95) == pytest.approx((reference.low, reference.high))


def test_a_slow_block_that_a_condition_missed_does_not_flatter_it() -> None:
    """Block 1 was slow for everybody; c1 failed in it and must not look faster for that."""
    logs = logs_of(sd=0.0)
    for cells in logs.values():
        for r, b in cells:
            cells[r, b] += -0.5 if b == 1 else 0.0
    del logs["c1"][2, 1]
    found = estimate(make_stratum(logs, "base", by_deployment=True), "c1")
    assert found is not None
    assert found.log_ratio == pytest.approx(math.log(0.9))
    assert len(found.pairs) == 11


def test_a_condition_without_a_whole_round_is_estimated_from_the_others() -> None:
    logs = logs_of()
    for b in range(1, 5):
        del logs["c1"][3, b]
    found = estimate(make_stratum(logs, "base", by_deployment=True), "c1")
    assert found is not None
    assert (found.units, found.df) == (2, 5)
    assert "least squares" in found.method


def test_a_much_noisier_condition_is_judged_by_its_own_variance() -> None:
    logs = logs_of(deployments=4, sd=0.001)
    logs["c2"] = {(r, b): 0.3 * (-1) ** r for r, b in logs["base"]}
    stratum = make_stratum(logs, "base", by_deployment=True)
    noisy, quiet = estimate(stratum, "c2"), estimate(stratum, "c1")
    assert noisy is not None
    assert quiet is not None
    assert noisy.df == 3
    assert "because c2 varies more" in noisy.method
    assert quiet.df == 2 * 3
    assert quiet.se < noisy.se / 50


def test_a_baseline_that_was_measured_twice_counts_with_both() -> None:
    logs = logs_of(deployments=9, blocks=1)
    stratum = make_stratum(logs, "base", by_deployment=True)
    found = estimate(stratum, "c1", repeats=["c2"])
    assert found is not None
    both = [(logs["base"][c] + logs["c2"][c]) / 2 for c in logs["base"]]
    own = [y - b for y, b in zip(logs["c1"].values(), both, strict=True)]
    assert found.log_ratio == pytest.approx(np.mean(own))
    assert list(found.pairs.values()) == pytest.approx(own)
    assert found.unpooled == pytest.approx((np.std(own, ddof=1) / 3, 8))
    assert "mean of base and c2" in found.method
    # Merging adds a degree of freedom, and takes a quarter of the variance of a difference.
    assert found.df == 3 * 8 + 1
    fit = found.se**2 * 9 / 1.5
    ss = stratum.fit.residual_ss + 9 * stratum.fit.effects["c2"] ** 2 / 2
    assert fit == pytest.approx(ss / found.df)


def test_intervals_against_a_baseline_measured_twice_keep_their_promise() -> None:
    """Coverage within four standard errors of 95%, and a narrower interval."""
    studies, holds, widths = 600, 0, np.zeros(2)
    for seed in range(studies):
        stratum = make_stratum(logs_of(9, 1, 3, seed=seed), "base", by_deployment=True)
        for number, repeats in enumerate(([], ["c2"])):
            found = estimate(stratum, "c1", repeats=repeats)
            assert found is not None
            low, high = found.interval(0.95)
            widths[number] += high - low
        holds += low < math.log(0.9) < high
    assert abs(holds / studies - 0.95) < 4 * math.sqrt(0.95 * 0.05 / studies)
    assert widths[1] < 0.9 * widths[0]


@pytest.mark.parametrize("by_deployment", [True, False])
def test_one_pair_is_no_interval(by_deployment: bool) -> None:
    logs = logs_of(deployments=1, blocks=1)
    assert estimate(make_stratum(logs, "base", by_deployment=by_deployment), "c1") is None


def test_a_condition_that_never_ran_has_no_effect() -> None:
    stratum = make_stratum(logs_of(), "base", by_deployment=True)
    assert estimate(stratum, "c9") is None
    assert estimate(make_stratum({}, "base", by_deployment=True), "c1") is None


@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans())
def test_whatever_trials_are_missing_the_answer_is_finite_or_none(
    data: st.DataObject, by_deployment: bool
) -> None:
    logs = logs_of(blocks=2)
    repeats = data.draw(st.sampled_from([[], ["c2"], ["c2", "c3"]]))
    cells = [(name, cell) for name, own in logs.items() for cell in own]
    for name, cell in data.draw(st.lists(st.sampled_from(cells), unique=True)):
        del logs[name][cell]
    stratum = make_stratum(logs, "base", by_deployment=by_deployment)
    found = estimate(stratum, "c1", repeats=repeats)
    both = logs["base"].keys() & logs["c1"].keys()
    if found is None:
        assert len({cell[0] for cell in both} if by_deployment else both) < 2
    else:
        assert math.isfinite(found.log_ratio)
        assert math.isfinite(found.se)
        assert found.df >= 1
        assert found.pairs.keys() == both
