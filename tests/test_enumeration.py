"""Names are listed as in a sentence."""

from __future__ import annotations

import pytest

from tare.enumeration import count, first_of, listing


@pytest.mark.parametrize(
    ("names", "text"),
    [([], "none"), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_all_names(names: list[str], text: str) -> None:
    assert listing(names) == text


@pytest.mark.parametrize(
    ("most", "text"), [(1, "a and 2 more"), (2, "a, b and 1 more"), (3, "a, b, c"), (9, "a, b, c")]
)
def test_the_first_of_many_names_say_how_many_follow(most: int, text: str) -> None:
    assert first_of(["a", "b", "c"], most) == text


@pytest.mark.parametrize(
    ("number", "text"), [(1, "1 trial"), (0, "0 trials"), (1200, "1,200 trials")]
)
def test_a_number_has_its_noun(number: int, text: str) -> None:
    assert count(number, "trial") == text
