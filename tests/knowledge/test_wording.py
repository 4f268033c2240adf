"""Ratios are worded as changes that readers can use."""

from __future__ import annotations

import pytest

from tare.knowledge.wording import allowed, apart, percent, span


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (1.034, "+3.4%"),
        (0.9999, "+0.0%"),
        (4.92, "4.92x"),
        (54111.13, "over 100x"),
        (0.0, "under 0.01x"),
    ],
)
def test_a_ratio_is_told_as_a_change(ratio: float, said: str) -> None:
    assert percent(ratio) == said


def test_a_number_of_few_digits_is_told_in_whole_percents_with_what_they_allow() -> None:
    told = allowed(1.3333, (1.2105, 1.4706))
    assert told == "+33% is +21% to +47% by its printed digits"
    assert percent(5.9, whole=True) == "5.9x"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.4, None, "+40.0% or more"),
        (None, 1.29, "up to +29.0%"),
        (None, 0.7143, "-28.6% or lower"),
        (0.7752, None, "-22.5% or higher"),
    ],
)
def test_one_end_of_a_range_says_which_way_it_is_open(
    low: float | None, high: float | None, said: str
) -> None:
    assert span(low, high) == said


def test_what_is_not_stated_is_never_said_to_differ() -> None:
    both = ["network bridge", "client not stated", "nodes 3", "storage not stated"]
    told = "differs in: network bridge, nodes 3; not stated: client, storage"
    assert apart(both, "alike") == told
    assert apart(both[1:2], "alike") == "not stated: client"
    assert apart(both[:1], "alike") == "differs in: network bridge"
    assert apart([], "alike") == "alike"
