"""How many deployments a study needs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from tare.analysis.usual_spread import IN_SLICES
from tare.knowledge.nearness import Near, Nearness
from tare.knowledge.sizing import ASSUMED, LEAST, MOST, deployments_for, size_of
from tests.knowledge.sample import changed


@settings(deadline=None, max_examples=30)  # the first example is slow: statsmodels is imported
@given(sd=st.floats(0.005, 0.5), margin=st.floats(0.01, 0.3))
def test_one_deployment_less_would_not_have_the_power(sd: float, margin: float) -> None:
    n = deployments_for(sd, margin)
    assert LEAST <= n <= MOST

    def power(count: int) -> float:
        # only the upper half of the two-sided test at 5% counts
        found = TTestPower().power(math.log1p(margin) / sd, count, 0.025, alternative="larger")
        return float(found)

    if n < MOST:
        assert power(n) >= 0.8 - 1e-6
    if n > LEAST:
        assert power(n - 1) < 0.8 + 1e-6


def test_a_known_answer() -> None:
    # a standardised effect of 1 needs 10 pairs (Cohen's tables, paired t, 80%, two-sided 5%)
    assert deployments_for(math.log1p(0.05), 0.05) == 10


def test_the_median_of_the_known_variabilities_is_taken() -> None:
    near = [
        Near(changed(1.0, id=f"f{n}", spread={"sd_log": sd, "units": 5}), Nearness(0.1, []))
        for n, sd in enumerate((0.01, 0.04, 0.2))
    ]
    size = size_of(near, 0.05)
    assert size.sd_log == 0.04
    assert size.known == [0.01, 0.04, 0.2]


def test_where_nothing_is_known_the_assumption_is_said() -> None:
    size = size_of([Near(changed(1.0), Nearness(0.1, []))], 0.05)
    assert (size.sd_log, size.known) == (ASSUMED, [])
    assert "assumed" in size.method


@pytest.mark.parametrize(("published", "taken"), [(0.068, IN_SLICES), (0.01, 0.01)])
def test_a_study_in_slices_needs_no_more_than_servers_that_take_turns_differ_by(
    published: float, taken: float
) -> None:
    near = [Near(changed(1.0, spread={"sd_log": published, "units": 5}), Nearness(0.1, []))]
    size = size_of(near, 0.05, in_slices=True)
    assert size.sd_log == taken
    assert size.deployments == deployments_for(taken, 0.05)
    assert f"{published:.1%}" in size.method, "what was published is told in either case"


def test_what_was_seen_far_away_says_nothing_of_the_variability_here() -> None:
    far = Near(changed(1.0, spread={"sd_log": 0.3, "units": 5}), Nearness(0.9, []))
    assert size_of([far], 0.05).known == []


@pytest.mark.parametrize(("sd", "expected"), [(1e-6, LEAST), (50.0, MOST)])
def test_the_number_stays_one_that_a_study_may_have(sd: float, expected: int) -> None:
    assert deployments_for(sd, 0.05) == expected
