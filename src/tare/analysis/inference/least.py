"""The least whole number for which something holds, found by doubling and halving."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def least_number(enough: Callable[[int], bool], least: int, most: int) -> int:
    """The least from `least` to `most` for which `enough` holds; it holds for all larger.

    Returns:
        `most` where it holds for none below.
    """
    low, high = least - 1, least
    while high < most and not enough(high):
        low, high = high, min(most, high * 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
