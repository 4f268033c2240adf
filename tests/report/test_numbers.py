"""Numbers have units and a readable size, and claim no false precision."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.report import numbers


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (14180.4, "operations/s", "14,180 ops/s"),
        (812.0, "us", "812 µs"),
        (2210.0, "us", "2.21 ms"),
        (1_500_000.0, "us", "1.50 s"),
        (92.44, "us/operation", "92.4 µs/op"),
        (18_400_000.0, "bytes/s", "18.4 MB/s"),
        (1.25, "cores", "1.25 cores"),
        (0.0, "us", "0 µs"),
        (3.0, "furlongs", "3.00 furlongs"),
        (None, "us", "n/a"),
        (math.nan, "us", "n/a"),
    ],
)
def test_a_quantity_has_its_unit_and_a_readable_size(
    value: float | None, unit: str, shown: str
) -> None:
    assert numbers.quantity(value, unit) == shown


@pytest.mark.parametrize(
    ("ratio", "signed", "in_words"),
    [
        (0.877, "\u221212.3%", "12.3% lower"),
        (1.224, "+22.4%", "22.4% higher"),
        (1.0, "0.0%", "0.0% higher"),
        (0.9999, "0.0%", "0.0% lower"),
        (12.5, "+1,150%", "1,150% higher"),
        (math.inf, "unbounded", "not measurable"),
        (math.nan, "n/a", "not measurable"),
    ],
)
def test_a_ratio_is_shown_as_a_change(ratio: float, signed: str, in_words: str) -> None:
    assert numbers.change(ratio) == signed
    assert numbers.change_in_words(ratio) == in_words


def test_an_end_of_an_interval_that_says_nothing_has_no_digits() -> None:
    assert numbers.interval((1e-7, 5e6)) == "[\u2212100%, over 100 times]"
    assert numbers.interval((0.5, 100.0)) == "[\u221250.0%, +9,900%]"


@given(st.floats(min_value=0.001, max_value=1000))
def test_sign_and_words_of_a_change_agree(ratio: float) -> None:
    signed, in_words = numbers.change(ratio), numbers.change_in_words(ratio)
    sign = {"+": "higher", "\u2212": "lower"}
    if signed != "0.0%":
        assert f"{signed[1:]} {sign[signed[0]]}" == in_words


def test_an_interval_without_an_end_says_so() -> None:
    assert numbers.interval((0.849, 0.906)) == "[\u221215.1%, \u22129.4%]"
    assert numbers.interval((0.5, math.inf)) == "[\u221250.0%, unbounded]"
    assert numbers.interval((math.nan, math.nan)) == "[no interval]"


def test_a_p_value_is_never_zero() -> None:
    assert numbers.p_value(0.0) == "< 0.001"
    assert numbers.p_value(0.0341) == "0.034"
    assert numbers.p_value(None) == "n/a"


def test_ticks_have_no_trailing_zeros() -> None:
    assert [numbers.tick(t, "us") for t in (0, 1000, 2500)] == ["0 µs", "1 ms", "2.5 ms"]
    assert numbers.tick(1.0, "cores") == "1 core"


@pytest.mark.parametrize(
    ("ci", "said"),
    [
        ((0.954, 1.158), "between 4.6% lower and 15.8% higher"),
        ((0.96, 0.995), "between 0.5% and 4.0% lower"),
        ((1.012, 1.2), "between 1.2% and 20.0% higher"),
        ((1.012, math.inf), "between 1.2% and any amount higher"),
        ((math.nan, 1.2), "not measurable"),
    ],
)
def test_a_range_is_said_each_way(ci: tuple[float, float], said: str) -> None:
    assert numbers.range_in_words(ci) == said


@pytest.mark.parametrize(
    ("value", "ci", "said"),
    [
        (5.271, (3.012, 7.53), ("+5.3", "+3.0", "+7.5")),
        (0.9, (0.65, 1.15), ("+0.90", "+0.65", "+1.15")),
        (-210.4, (-260.0, -160.0), ("\u2212210", "\u2212260", "\u2212160")),
        (0.001, (-3.0, 3.0), ("+0.0", "\u22123.0", "+3.0")),
        (1.0, (0.5, math.inf), ("+1.0", "+0.5", "unbounded")),
    ],
)
def test_a_difference_has_the_digits_that_its_interval_knows(
    value: float, ci: tuple[float, float], said: tuple[str, str, str]
) -> None:
    assert numbers.signed_differences(value, ci) == said
