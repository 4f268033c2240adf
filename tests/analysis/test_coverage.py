"""The intervals keep their promise in simulated studies (short version of the decision page)."""

from __future__ import annotations

import math

import pytest

from tests.analysis.coverage_simulation import World, simulate

STUDIES = 250
"""Four contrasts each, so that the standard error of a rate near 5% is about 1%."""


@pytest.mark.parametrize("between", [0.02, 0.05])
def test_coverage_and_false_alarms_of_identical_conditions(between: float) -> None:
    rates, _ = simulate(World(between), STUDIES)
    assert rates.coverage >= 0.93
    assert rates.different <= 0.07


def test_ignoring_deployments_would_not_do() -> None:
    """The usual test over all blocks: far from 95% when deployments differ by 5%."""
    rates, _ = simulate(World(0.05), STUDIES)
    assert rates.naive < 0.85


def test_one_noisier_condition_costs_little() -> None:
    quiet, noisy = simulate(World(0.02, noise=1.5), STUDIES)
    assert quiet.coverage >= 0.93
    assert noisy.coverage >= 0.88


def test_equivalence_is_rarely_claimed_at_the_margin() -> None:
    """The size of TOST: with the truth at the margin, at most 5% pass."""
    rates, _ = simulate(World(0.01, 0.02, log_ratio=math.log(1.05)), STUDIES)
    assert rates.equivalent <= 0.07


def test_pooling_makes_intervals_much_narrower_than_a_paired_t() -> None:
    rates, _ = simulate(World(0.02), STUDIES)
    assert rates.width < 0.75 * rates.unpooled_width
