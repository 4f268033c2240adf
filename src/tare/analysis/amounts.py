"""Amounts with known errors, added up: microseconds of a bill, differences of prices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from scipy import special

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.records.prices import Interval


class Amount(NamedTuple):
    """A value with its standard error and the error's degrees of freedom."""

    value: float
    error: float
    df: float

    def interval(self) -> tuple[float, float]:
        """The 95% interval, Student's t."""
        half = float(special.stdtrit(self.df, 0.975)) * self.error
        return self.value - half, self.value + half

    def times(self, factor: float) -> Amount:
        """This amount times a factor."""
        return Amount(self.value * factor, self.error * abs(factor), self.df)


def amount_of(interval: Interval, df: float) -> Amount:
    """The amount behind a 95% interval of Student's t with these degrees of freedom."""
    error = (interval.high - interval.low) / 2 / float(special.stdtrit(df, 0.975))
    return Amount(interval.value, error, df)


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum of independent amounts. Errors add up in squares, with the fewest degrees of freedom
    of any amount, so that the interval is never too narrow."""
    every = list(amounts)
    return Amount(
        sum(one.value for one in every),
        math.hypot(*(one.error for one in every)),
        min(one.df for one in every),
    )


def related(amounts: Iterable[Amount]) -> Amount:
    """The sum of amounts that may err together, such as amounts of the same rounds. Errors add up
    as they are, which is never too narrow (|a + b| <= |a| + |b| for standard deviations)."""
    every = list(amounts)
    return Amount(
        sum(one.value for one in every),
        sum(one.error for one in every),
        min(one.df for one in every),
    )
