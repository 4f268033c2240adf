"""Rough widths agree with the t distribution, which is not imported for them."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from tare.analysis.usual_spread import LEAST_ROUNDS, half_width


@pytest.mark.parametrize("rounds", [LEAST_ROUNDS, 4, 5, 9, 13, 100])
def test_a_rough_width_is_that_of_a_t_interval(rounds: int) -> None:
    t = float(stats.t.ppf(0.975, rounds - 1))
    exact = math.expm1(t * 0.02 / math.sqrt(rounds))
    assert half_width(rounds, 0.02) == pytest.approx(exact, rel=0.02)
