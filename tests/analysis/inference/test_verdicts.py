"""Four verdicts, and how much more a decision needs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from tare.analysis.inference.estimates import Estimate, estimate, make_stratum
from tare.analysis.inference.verdicts import (
    bounds,
    decide,
    further_units,
    least_detectable,
    run_tests,
)

WITHIN = "different within the margin"


def made(log_ratio: float, se: float, df: int = 8, units: int = 3) -> Estimate:
    return Estimate(
        log_ratio=log_ratio,
        se=se,
        df=df,
        units=units,
        unit="deployment",
        slope=df // (units - 1),
        unpooled=None,
        pairs={},
        conditional=False,
        method="",
    )


@pytest.mark.parametrize(
    ("ratio", "se", "margin", "verdict"),
    [
        (1.00, 0.01, 0.05, "equivalent"),
        (1.00, 0.05, 0.05, "inconclusive"),
        (1.20, 0.01, 0.05, "different"),
        (1.03, 0.005, 0.05, WITHIN),
        (1.04, 0.01, 0.05, "different"),
        (1.04, 0.03, 0.05, "inconclusive"),
        (1.00, 0.0001, None, "inconclusive"),
        (1.03, 0.005, None, "different"),
    ],
)
def test_verdicts(ratio: float, se: float, margin: float | None, verdict: str) -> None:
    assert decide(run_tests(made(math.log(ratio), se), margin), None) == verdict


@given(
    st.floats(-0.2, 0.2),
    st.floats(0.001, 0.1),
    st.integers(1, 30),
    st.sampled_from([0.01, 0.05, 0.1]),
)
def test_verdicts_follow_the_intervals(x: float, se: float, df: int, margin: float) -> None:
    """TOST passes iff the 90% interval lies inside; p < .05 iff the 95% interval excludes 0."""
    found = made(x, se, df)
    low, high = bounds(margin)
    inner, outer = found.interval(0.90), found.interval(0.95)
    inside = low <= inner[0] and inner[1] <= high
    different = outer[0] > 0 or outer[1] < 0
    expected = {
        (True, True): WITHIN,
        (True, False): "equivalent",
        (False, True): "different",
        (False, False): "inconclusive",
    }[inside, different]
    assert decide(run_tests(found, margin), None) == expected


def test_the_bounds_are_those_of_the_ratio() -> None:
    assert tuple(math.exp(b) for b in bounds(0.05)) == pytest.approx((0.95, 1.05))


def test_tost_agrees_with_statsmodels() -> None:
    rng = np.random.default_rng(5)
    base = rng.normal(0, 0.02, 8)
    treated = base + rng.normal(0.01, 0.02, 8)
    logs = {
        "a": {(1, i + 1): float(y) for i, y in enumerate(base)},
        "b": {(1, i + 1): float(y) for i, y in enumerate(treated)},
    }
    found = estimate(make_stratum(logs, "a", by_deployment=False), "b")
    assert found is not None
    reference = ttost_paired(treated, base, *bounds(0.05))[0]
    assert run_tests(found, 0.05).equivalence == pytest.approx(reference)


def test_the_adjusted_p_decides() -> None:
    tests = run_tests(made(0.1, 0.035), None)
    assert tests.difference is not None
    assert 0.01 < tests.difference < 0.05
    assert decide(tests, None) == "different"
    assert decide(tests, 0.12) == "inconclusive"


def test_one_deployment_never_decides() -> None:
    found = replace(made(1.0, 0.001), conditional=True)
    tests = run_tests(found, 0.05)
    assert (tests.difference, tests.equivalence) == (None, None)
    assert decide(tests, None) == "inconclusive"
    assert least_detectable(found) is None
    assert further_units(found, 0.05, "inconclusive") == 2


def test_identical_measurements_are_equivalent_and_no_error() -> None:
    assert decide(run_tests(made(0.0, 0.0), 0.05), None) == "equivalent"
    assert decide(run_tests(made(0.1, 0.0), 0.05), None) == "different"


def test_the_least_detectable_change_grows_with_the_noise() -> None:
    # t(.975, 8) + t(.80, 8) = 2.306 + 0.889
    assert least_detectable(made(0.0, 0.01)) == pytest.approx(math.expm1(0.03195), rel=1e-3)


def test_no_further_units_where_the_verdict_stands() -> None:
    assert further_units(made(0.2, 0.01), 0.05, "different") == 0
    assert further_units(made(0.2, 0.01), None, "different") is None


def test_further_units_give_the_promised_power() -> None:
    """With sd 5% between units, known for sure, and a margin of 5%: the textbook sample sizes.

    ln 1.05 sqrt(n) / 0.05 reaches t(.975) + z(.80) from n = 10 on and t(.95) + z(.90), which the
    TOST without a true difference asks for, from n = 11 on (df = n - 1).
    """
    found = replace(made(0.0, 0.05 / math.sqrt(3), df=10**9), slope=1)
    assert further_units(found, 0.05, "inconclusive") == 11 - 3


def test_an_sd_from_three_units_may_be_far_too_small_and_is_planned_for() -> None:
    found = made(0.0, 0.05 / math.sqrt(3), df=2)
    further = further_units(found, 0.05, "inconclusive")
    assert further is not None
    reached = [
        math.log(1.05) * math.sqrt(n) / 0.05 >= stats.nct.ppf(0.90, 2, stats.t.ppf(0.95, n - 1))
        for n in (further + 2, further + 3)
    ]
    assert reached == [False, True]


def test_near_the_margin_the_estimate_decides_how_many() -> None:
    """Quiet enough for 80% power, yet the estimate lies where neither test passes."""
    found = made(0.03, 0.0145)
    assert decide(run_tests(found, 0.05), None) == "inconclusive"
    one = further_units(found, 0.05, "inconclusive")
    many = further_units(found, 0.05, "inconclusive", comparisons=10)
    assert one is not None
    assert many is not None
    assert 1 <= one <= many
