"""Averages over cells and independent repetitions: known answers, properties, honest intervals."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.analysis.averages_simulation import World, simulate
from tests.analysis.repetitions import effects_of, imported, measured, study_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.analysis.model import Effect
    from tare.analysis.trials import Trial

FACTORS = {"platform": ["native", "docker", "kvm"], "threads": ["t1", "t2"], "cache": ["on", "off"]}
METRIC = "read.mean"
GRAMBOW = {
    "compare": ["platform"],
    "by": ["threads"],
    "over": {"factors": ["cache"], "how": "mean-of-ratios"},
}


def trials_of(
    value: Callable[[dict[str, str], int], float], repetitions: int = 5, factors: Any = None
) -> list[Trial]:
    """Imported trials of every condition; the value from its levels and repetition."""
    names = factors or FACTORS
    every = [dict(zip(names, levels, strict=True)) for levels in itertools.product(*names.values())]
    return [
        imported(levels, r, {METRIC: value(levels, r)})
        for levels in every
        for r in range(1, repetitions + 1)
    ]


def noisy(seed: int = 1, cv: float = 0.05) -> list[Trial]:
    """docker is 10% slower with t1 and 2% with t2; every condition has a level of its own."""
    rng = np.random.default_rng(seed)
    levels: dict[tuple[str, str], float] = {}

    def value(own: dict[str, str], _: int) -> float:
        cell = own["threads"], own["cache"]
        base = levels.setdefault(cell, float(rng.uniform(500, 5000)))
        slower = {"native": 1.0, "docker": 1.1 if own["threads"] == "t1" else 1.02, "kvm": 1.3}
        return base * slower[own["platform"]] * math.exp(rng.normal(0, cv))

    return trials_of(value)


def means(trials: list[Trial]) -> dict[str, float]:
    names = dict.fromkeys(trial.condition for trial in trials)
    return {
        name: float(np.mean([t.values[METRIC] for t in trials if t.condition == name]))
        for name in names
    }


def one(effects: list[Effect], treatment: str) -> Effect:
    (found,) = (effect for effect in effects if effect.treatment == treatment)
    return found


def test_mean_of_ratios_is_that_of_the_papers_tables() -> None:
    trials = noisy()
    effects = effects_of(study_of(FACTORS, GRAMBOW), trials)
    mean = means(trials)
    for threads in ("t1", "t2"):
        expected = np.mean(
            [mean[f"docker.{threads}.{c}"] / mean[f"native.{threads}.{c}"] for c in ("on", "off")]
        )
        found = one(effects, f"docker.{threads}")
        assert found.ratio == pytest.approx(expected, rel=1e-12)
        assert found.baseline == f"native.{threads}"
        assert found.levels == {"platform": "docker", "threads": threads}
        assert (found.over, found.how) == (["cache"], "mean-of-ratios")
        assert (found.cells, found.repetitions, found.deployments) == (2, 20, 5)
        assert found.unit_of_analysis == "repetition"


def test_the_average_of_the_rows_is_that_of_the_printed_rows() -> None:
    """5.1282, 3.0551 and 2.6616% are printed as 5.13, 3.06 and 2.66%, and their mean as 3.62%."""
    changes = {"t1": 5.1282, "t2": 3.0551, "t3": 2.6616}
    factors = {"platform": ["native", "docker"], "threads": list(changes), "cache": ["on"]}

    def value(own: dict[str, str], r: int) -> float:
        slower = 1 + changes[own["threads"]] / 100 if own["platform"] == "docker" else 1.0
        return 1000 * slower * (1 + 0.01 * (r - 3))

    effects = effects_of(study_of(factors, GRAMBOW), trials_of(value, factors=factors))
    average = one(effects, "docker")
    assert round(100 * (average.ratio - 1), 2) == 3.62
    assert average.over == ["cache", "threads"]
    assert average.levels == {"platform": "docker"}
    assert average.cells == 3


def test_ratio_of_means_and_model() -> None:
    trials = noisy()
    mean = means(trials)
    rom = {**GRAMBOW, "over": {"factors": ["cache"], "how": "ratio-of-means"}}
    found = one(effects_of(study_of(FACTORS, rom), trials), "kvm.t1")
    expected = (mean["kvm.t1.on"] + mean["kvm.t1.off"]) / (
        mean["native.t1.on"] + mean["native.t1.off"]
    )
    assert found.ratio == pytest.approx(expected)
    assert found.treatment_value / found.baseline_value == pytest.approx(expected)

    model = {**GRAMBOW, "over": ["cache"]}
    found = one(effects_of(study_of(FACTORS, model), trials), "kvm.t1")
    logs = {
        name: np.mean([math.log(t.values[METRIC]) for t in trials if t.condition == name])
        for name in mean
    }
    log = np.mean([logs[f"kvm.t1.{c}"] - logs[f"native.t1.{c}"] for c in ("on", "off")])
    assert found.how == "model"
    assert found.ratio == pytest.approx(math.exp(log))


def test_independent_repetitions_of_one_pair_are_welchs_t() -> None:
    trials = noisy()
    study = study_of(FACTORS, {"compare": ["platform"]})
    found = one(effects_of(study, trials), "docker.t1.on")
    base, treated = (
        [math.log(t.values[METRIC]) for t in trials if t.condition == f"{name}.t1.on"]
        for name in ("native", "docker")
    )
    welch = stats.ttest_ind(treated, base, equal_var=False)
    interval = welch.confidence_interval(0.95)
    assert found.p == pytest.approx(welch.pvalue)
    assert found.df == pytest.approx(welch.df)
    assert found.ci == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
    assert found.pairs == []
    assert "Welch" in found.method
    names = [check.name for check in found.crosschecks]
    assert names == ["bootstrap of repetitions inside each condition", "Mann-Whitney"]
    expected = stats.mannwhitneyu(treated, base, method="exact").pvalue
    assert found.crosschecks[1].p == pytest.approx(expected)


def test_the_model_over_cells_is_a_contrast_of_cell_means() -> None:
    """With equal variances, Welch's interval over cells is near the one of ordinary least squares
    on cell means."""
    trials = noisy()
    found = one(effects_of(study_of(FACTORS, {**GRAMBOW, "over": ["cache"]}), trials), "docker.t1")
    names = [f"{p}.t1.{c}" for p in ("native", "docker") for c in ("on", "off")]
    groups = [np.log([t.values[METRIC] for t in trials if t.condition == name]) for name in names]
    variances = [np.var(group, ddof=1) / 5 / 4 for group in groups]
    se = math.sqrt(sum(variances))
    df = se**4 / sum(v**2 / 4 for v in variances)
    half = stats.t.ppf(0.975, df) * se
    assert math.log(found.ci[1] / found.ci[0]) == pytest.approx(2 * half)
    assert found.df == pytest.approx(df)


def test_without_pairs_the_order_of_repetitions_does_not_matter() -> None:
    trials = noisy()
    study = study_of(FACTORS, GRAMBOW)
    shuffled = [
        imported(t.manifest.levels, 6 - t.manifest.block, t.values) for t in reversed(trials)
    ]
    first, second = effects_of(study, trials), effects_of(study, shuffled)
    for effect in first:
        other = one(second, effect.treatment)
        assert other.ratio == pytest.approx(effect.ratio)
        assert other.ci == pytest.approx(effect.ci)
        assert other.crosschecks[1].p == pytest.approx(effect.crosschecks[1].p)


@settings(max_examples=15, deadline=None)
@given(st.floats(1e-6, 1e6), st.sampled_from(["mean-of-ratios", "ratio-of-means", "model"]))
def test_another_unit_changes_no_ratio(scale: float, how: str) -> None:
    trials = noisy()
    study = study_of(FACTORS, {**GRAMBOW, "over": {"factors": ["cache"], "how": how}})
    scaled = [
        imported(t.manifest.levels, t.manifest.block, {METRIC: scale * t.values[METRIC]})
        for t in trials
    ]
    for effect, other in zip(effects_of(study, trials), effects_of(study, scaled), strict=True):
        assert other.ratio == pytest.approx(effect.ratio)
        assert other.ci == pytest.approx(effect.ci)
        assert other.verdict == effect.verdict


@pytest.mark.parametrize("pairing", ["block", "none"])
@pytest.mark.parametrize("how", ["ratio-of-means", "model"])
def test_swapping_baseline_and_treatment_inverts(pairing: str, how: str) -> None:
    trials = noisy()
    asked = {**GRAMBOW, "over": {"factors": ["cache"], "how": how}, "pairing": pairing}
    two = {**FACTORS, "platform": ["native", "docker"]}
    swapped = {**FACTORS, "platform": ["docker", "native"]}
    some = [t for t in trials if t.manifest.levels["platform"] != "kvm"]
    there = effects_of(study_of(two, asked), some)
    back = effects_of(study_of(swapped, asked), some)
    for effect, inverse in zip(there, back, strict=True):
        assert effect.ratio == pytest.approx(1 / inverse.ratio)
        assert effect.ci == pytest.approx((1 / inverse.ci[1], 1 / inverse.ci[0]))
        assert effect.p == pytest.approx(inverse.p)


def test_a_single_repetition_borrows_the_variance_of_the_others() -> None:
    trials = [t for t in noisy() if t.condition != "docker.t1.on" or t.manifest.block == 1]
    alone = effects_of(study_of(FACTORS, {"compare": ["platform"]}), trials)
    assert "docker.t1.on" not in {effect.treatment for effect in alone}
    averaged = one(effects_of(study_of(FACTORS, GRAMBOW), trials), "docker.t1")
    assert averaged.deployments == 1
    assert averaged.df == 5 * 4  # six conditions of five repetitions, one of which has one
    assert "pooled over 6 conditions" in averaged.method


def test_cells_without_files_are_left_out_and_said() -> None:
    trials = [t for t in noisy() if t.condition != "docker.t1.on"]
    found = one(effects_of(study_of(FACTORS, GRAMBOW), trials), "docker.t1")
    assert found.cells == 1
    assert "1 of 2 cells" in found.method


def own_trials(seed: int = 3, deployments: int = 4, blocks: int = 3) -> list[Trial]:
    """Tare's own: one deployment per platform and round serves both threads and both caches."""
    rng = np.random.default_rng(seed)
    effect = {"native": 0.0, "docker": 0.08, "kvm": 0.3}
    trials = []
    for round_ in range(1, deployments + 1):
        lives = {name: rng.normal(0, 0.03) for name in effect}
        for block in range(1, blocks + 1):
            shared = rng.normal(0, 0.2)
            for platform, threads, cache in itertools.product(*FACTORS.values()):
                log = 7 + shared + lives[platform] + effect[platform] + rng.normal(0, 0.01)
                log += (threads == "t2") * 0.5
                levels = {"platform": platform, "threads": threads, "cache": cache}
                value = {METRIC: math.exp(log)}
                trials.append(measured(levels, round_, block, value, f"D{round_}-{platform}"))
    return trials


def test_own_runs_are_averaged_inside_each_block_and_count_deployments() -> None:
    trials = own_trials()
    study = study_of(FACTORS, {**GRAMBOW, "over": ["cache"]})
    found = one(effects_of(study, trials), "docker.t1")
    assert (found.unit_of_analysis, found.deployments, found.blocks) == ("deployment", 4, 12)
    logs: dict[tuple[str, int], list[float]] = {}
    for t in trials:
        if t.manifest.levels["threads"] == "t1":
            key = t.manifest.levels["platform"], t.manifest.round
            logs.setdefault(key, []).append(math.log(t.values[METRIC]))
    units = [np.mean(logs["docker", r]) - np.mean(logs["native", r]) for r in range(1, 5)]
    assert math.log(found.ratio) == pytest.approx(np.mean(units))
    assert found.ci_unpooled is not None
    paired = stats.ttest_1samp(units, 0).confidence_interval(0.95)
    assert found.ci_unpooled == pytest.approx((math.exp(paired.low), math.exp(paired.high)))
    assert [check.name for check in found.crosschecks] == [
        "bootstrap of deployments, then blocks",
        "Wilcoxon signed-rank",
    ]


@pytest.mark.parametrize("how", ["mean-of-ratios", "ratio-of-means", "model"])
def test_all_averages_agree_where_all_cells_do(how: str) -> None:
    study = study_of(FACTORS, {**GRAMBOW, "over": {"factors": ["cache"], "how": how}})
    found = one(effects_of(study, own_trials()), "kvm.t2")
    assert found.ci[0] < math.exp(0.3) < found.ci[1]
    assert found.ratio == pytest.approx(math.exp(0.3), rel=0.06)
    assert found.blocks == len(found.pairs) == 12


def test_pairing_none_of_own_runs_counts_deployments_not_trials() -> None:
    """Trials of one life of a cluster are related, whether or not they are pairs."""
    study = study_of(FACTORS, {"compare": ["platform"], "pairing": "none"})
    found = one(effects_of(study, own_trials()), "docker.t1.on")
    assert (found.unit_of_analysis, found.deployments) == ("repetition", 4)


def test_cells_served_by_the_same_deployments_are_no_further_evidence() -> None:
    """Both caches ran in the same four deployments: averaging them must not halve the variance of
    what differs between deployments."""
    rng = np.random.default_rng(8)
    trials = []
    for round_ in range(1, 5):
        lives = {name: rng.normal(0, 0.05) for name in FACTORS["platform"]}
        for platform, threads, cache in itertools.product(*FACTORS.values()):
            levels = {"platform": platform, "threads": threads, "cache": cache}
            value = {METRIC: 100 * math.exp(lives[platform] + rng.normal(0, 1e-4))}
            trials.append(measured(levels, round_, 1, value, f"D{round_}-{platform}"))
    asked = {"compare": ["platform"], "pairing": "none"}
    averaged = one(
        effects_of(study_of(FACTORS, {**asked, "over": ["cache", "threads"]}), trials), "docker"
    )
    single = one(effects_of(study_of(FACTORS, asked), trials), "docker.t1.on")
    widths = [math.log(found.ci[1] / found.ci[0]) for found in (averaged, single)]
    assert widths[0] == pytest.approx(widths[1], rel=0.02)
    assert "standard errors are added" in averaged.method
    assert "standard errors are added" not in single.method


def test_families_are_the_rows_and_their_averages_apart() -> None:
    asked = {**GRAMBOW, "primary": [METRIC]}
    effects = effects_of(study_of(FACTORS, asked), noisy())
    rows = {e.adjustment for e in effects if "threads" not in e.over}
    averages = {e.adjustment for e in effects if "threads" in e.over}
    assert rows == {"Holm over 4 primary comparisons"}
    assert averages == {"Holm over 2 primary comparisons"}
    assert all(e.primary for e in effects)


def test_only_the_metrics_that_are_asked_for() -> None:
    trials = [
        imported(t.manifest.levels, t.manifest.block, {**t.values, "update.mean": 5.0})
        for t in noisy()
    ]
    asked = {**GRAMBOW, "metrics": [METRIC]}
    assert {e.metric for e in effects_of(study_of(FACTORS, asked), trials)} == {METRIC}


@pytest.mark.parametrize("cv", [0.01, 0.10])
def test_intervals_of_averages_hold_the_truth_as_often_as_they_promise(cv: float) -> None:
    """A short version of the table in decision 0006: 95%, give or take three standard errors."""
    rates = simulate(World((cv,)), 300, "model", seed=11)
    for who in ("alike", "last"):
        assert 0.95 - 0.038 < rates[f"chosen, {who}"][0] <= 0.99


def test_a_noisier_treatment_keeps_its_coverage() -> None:
    rates = simulate(World((0.05,), noisier=4.0), 300, "model", seed=12)
    assert rates["chosen, last"][0] > 0.95 - 0.038
