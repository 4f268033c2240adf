"""Axes: round ticks inside the domain, positions in order."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tare.report.scales import Scale, change_ticks, linear_ticks, log_ticks, round_up


def test_a_scale_maps_the_ends_and_clips_what_is_beyond() -> None:
    scale = Scale(0, 10, 100, 200)
    assert [scale(v) for v in (-5, 0, 5, 10, 99)] == [100, 100, 150, 200, 200]
    assert scale.holds(10)
    assert not scale.holds(10.1)


def test_a_scale_of_one_value_puts_it_in_the_middle() -> None:
    assert Scale(3, 3, 0, 100)(3) == 50


@given(st.floats(min_value=1e-6, max_value=1e12), st.integers(1, 6))
def test_linear_ticks_start_at_zero_and_reach_the_largest_value(high: float, steps: int) -> None:
    ticks = linear_ticks(high, steps)
    assert ticks[0] == 0
    assert ticks[-1] >= high * (1 - 1e-6)
    assert len(ticks) <= steps + 1


@given(
    st.floats(min_value=-1.5, max_value=0), st.floats(min_value=0, max_value=1.5), st.integers(3, 7)
)
def test_change_ticks_hold_no_change_and_stay_inside(low: float, high: float, most: int) -> None:
    ticks = change_ticks(low, high, most)
    assert 1 in ticks
    assert len(ticks) <= most + 1
    assert all(low - 1e-6 <= math.log(t) <= high + 1e-6 for t in ticks)


@given(st.floats(min_value=1, max_value=1e4), st.floats(min_value=2, max_value=1e5))
def test_log_ticks_stay_inside(low: float, factor: float) -> None:
    ticks = log_ticks(low, low * factor)
    assert all(low * 0.999 <= t <= low * factor * 1.001 for t in ticks)
    assert len(ticks) <= 7


def test_rounding_up_takes_1_2_25_and_5() -> None:
    values = [0.11, 2, 2.4, 3, 7, 0]
    assert [round(round_up(v), 9) for v in values] == [0.2, 2, 2.5, 5, 10, 1]
