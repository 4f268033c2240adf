"""Means over conditions count repetitions, and weigh conditions alike."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tare.analysis.exhibits.means import independent, mean_over, most_of

VALUES = st.lists(st.floats(1, 1e6), min_size=2, max_size=8)


def test_one_condition_has_the_usual_t_interval() -> None:
    found = mean_over([[11.0, 12.0, 13.0]])
    assert found is not None
    reach = 4.302653 / math.sqrt(3)  # t(0.975, 2) times s / sqrt(n), with s = 1
    assert (found.value, found.repeated) == (12.0, 3)
    assert (found.low, found.high) == pytest.approx((12 - reach, 12 + reach))


def test_an_interval_ends_where_the_quantity_does() -> None:
    positive = mean_over([[1.0, 9.0]])
    assert positive is not None
    assert (positive.value, positive.low) == (5.0, 0.0)
    signed = mean_over([[-1.0, 9.0]])
    assert signed is not None
    assert signed.low is not None
    assert signed.low < 0
    share = mean_over([[80.0, 99.0]], most_of("cpu.util"))
    assert share is not None
    assert share.high == 100.0
    assert most_of("throughput") == math.inf


def test_conditions_weigh_alike_however_often_they_were_repeated() -> None:
    found = mean_over([[10.0, 10.0], [20.0, 20.0, 20.0, 20.0]])
    assert found is not None
    assert (found.value, found.low, found.high) == (15.0, 15.0, 15.0)


def test_what_was_not_repeated_has_no_interval() -> None:
    found = mean_over([[1.0, 2.0], [5.0]])
    assert found is not None
    assert (found.value, found.low, found.high) == (3.25, None, None)
    assert mean_over([]) is None
    assert mean_over([[], []]) is None


@given(first=VALUES, second=VALUES)
def test_two_conditions_have_the_interval_of_welch(first: list[float], second: list[float]) -> None:
    """(a + b) / 2 is half of a - (-b), whose interval is Welch's."""
    found = mean_over([first, second])
    assert found is not None
    if len(set(first)) == 1 or len(set(second)) == 1:
        return
    welch = stats.ttest_ind(first, [-x for x in second], equal_var=False).confidence_interval()
    low = max(welch.low / 2, 0.0)  # the values are positive
    assert found.low == pytest.approx(low, rel=1e-6, abs=1e-6 * abs(found.value))
    assert found.high == pytest.approx(welch.high / 2, rel=1e-6, abs=1e-6 * abs(found.value))


def test_trials_of_one_deployment_count_once() -> None:
    values = {"a": 1.0, "b": 3.0, "c": 10.0}
    assert independent(values, {"a": "D1", "b": "D1", "c": "D2"}) == [2.0, 10.0]


def test_with_one_deployment_there_is_nothing_but_its_trials() -> None:
    values = {"a": 1.0, "b": 3.0}
    assert independent(values, {"a": "D1", "b": "D1"}) == [1.0, 3.0]
