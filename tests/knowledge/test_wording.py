"""Ratios are told as changes that a reader can use."""

from __future__ import annotations

import pytest

from tare.knowledge.wording import percent


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
