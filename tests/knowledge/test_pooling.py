"""A range over studies counts each study once; too few studies give no range."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tare.knowledge.nearness import Near, Nearness
from tare.knowledge.pooling import pool, se_log
from tare.knowledge.schema import Finding
from tests.knowledge.sample import changed, finding


def near(one: Finding, distance: float = 0.0) -> Near:
    return Near(one, Nearness(distance, []))


def studies(*percents: float, **changes: object) -> list[Near]:
    return [
        near(changed(percent, id=f"f{n}", study=f"s{n}", **changes))
        for n, percent in enumerate(percents)
    ]


def test_two_studies_are_too_few_and_it_is_said() -> None:
    found = pool(studies(5.0, 8.0))
    assert not found.enough
    assert found.ratio is found.ci is found.prediction is None
    assert "Too few" in found.method
    assert found.known == (1.05, 1.08), "what was seen is still shown"


def test_many_findings_of_one_study_are_one_observation() -> None:
    many = [near(changed(float(n), id=f"f{n}", load={"threads": n})) for n in range(1, 30)]
    found = pool(many)
    assert not found.enough
    assert [len(one.findings) for one in found.studies] == [29]


def test_studies_without_spread_give_the_t_interval_of_their_logs() -> None:
    logs = np.log([1.02, 1.06, 1.10])
    found = pool(studies(2.0, 6.0, 10.0))
    mean, sd, t = logs.mean(), logs.std(ddof=1), stats.t.ppf(0.975, 2)
    assert found.ratio == pytest.approx(math.exp(mean))
    assert found.ci == pytest.approx(
        (math.exp(mean - t * sd / 3**0.5), math.exp(mean + t * sd / 3**0.5))
    )
    half = t * sd * math.sqrt(1 + 1 / 3)
    assert found.prediction == pytest.approx((math.exp(mean - half), math.exp(mean + half)))


def test_studies_that_agree_far_beyond_their_noise_keep_the_noise_in_the_interval() -> None:
    spread = {"sd_log": 0.1, "units": 4, "ci": None}
    found = pool(studies(5.0, 5.0, 5.0, 5.0, spread=spread))
    assert found.tau == 0.0
    assert found.ci is not None
    # pooled from four standard errors of 0.05: 0.05 / sqrt(4), with t of 3 degrees of freedom
    half = stats.t.ppf(0.975, 3) * 0.025
    assert math.log(found.ci[1] / 1.05) == pytest.approx(half, rel=1e-6)


def test_random_effects_agree_with_a_known_answer() -> None:
    # The Paule-Mandel tau^2 solves sum w (y - mean)^2 = k - 1 with w = 1 / (se^2 + tau^2).
    errors = [0.02, 0.03, 0.05, 0.02]
    percents = [1.0, 8.0, 15.0, 20.0]
    parts = [
        near(changed(p, id=f"f{n}", study=f"s{n}", spread={"sd_log": se, "units": 1}))
        for n, (p, se) in enumerate(zip(percents, errors, strict=True))
    ]
    found = pool(parts)
    assert found.tau is not None
    assert found.ratio is not None
    weights = 1 / (np.array(errors) ** 2 + found.tau**2)
    logs = np.log1p(np.array(percents) / 100)
    mean = float(np.sum(weights * logs) / np.sum(weights))
    assert math.log(found.ratio) == pytest.approx(mean, abs=1e-6)
    assert float(np.sum(weights * (logs - mean) ** 2)) == pytest.approx(3.0, abs=1e-3)


def test_far_findings_and_stated_ranges_do_not_enter() -> None:
    stated = finding(
        id="range",
        study="s8",
        values={"baseline": None, "treatment": None},
        effect={"how": "range", "low": 1.0, "high": 1.5},
    )
    found = pool([*studies(5.0, 6.0), near(changed(50.0, id="x", study="s9"), 0.5), near(stated)])
    assert [one.study for one in found.studies] == ["s0", "s1"]


def test_of_one_study_only_what_is_about_as_near_as_its_nearest_enters() -> None:
    parts = [near(changed(2.0, id="a")), near(changed(30.0, id="b", load={"threads": 3}), 0.2)]
    [study] = pool(parts).studies
    assert study.findings == ["a"]


def test_what_tare_computed_from_records_stands_for_the_printed_one_of_the_same_conditions() -> (
    None
):
    computed = changed(
        3.0, id="b", effect={"how": "computed"}, spread={"sd_log": 0.05, "units": 25}
    )
    [study] = pool([near(changed(2.0, id="a")), near(computed)]).studies
    assert study.findings == ["b"]
    assert study.se_log == pytest.approx(0.01)


def test_the_error_of_a_ratio_of_means_is_that_of_the_delta_method() -> None:
    one = finding(spread={"n": 4, "baseline_sd": 0.2, "treatment_sd": 0.22})
    assert se_log(one) == pytest.approx(math.hypot(0.1, 0.1) / 2)


@settings(deadline=None)
@given(st.lists(st.floats(-30, 60), min_size=3, max_size=8))
def test_a_prediction_is_never_narrower_than_the_mean_of_studies(percents: list[float]) -> None:
    found = pool(studies(*[round(one, 2) for one in percents]))
    assert found.ci is not None
    assert found.prediction is not None
    assert found.prediction[0] <= found.ci[0] <= found.ci[1] <= found.prediction[1]
