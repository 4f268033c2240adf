"""Axes: from data to pixels, and the round numbers at which to draw ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A linear map from [low, high] in data to [start, end] in pixels, clipped at both ends."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        part = 0.5 if span == 0 else (value - self.low) / span
        return self.start + min(1.0, max(0.0, part)) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether the value lies inside, so that clipping does not move it."""
        return self.low <= value <= self.high


def round_up(value: float) -> float:
    """The least of 1, 2, 2.5, 5, 10 times a power of ten that is not below the value."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((power * m for m in (1, 2, 2.5, 5) if power * m >= value * (1 - 1e-9)), power * 10)


def linear_ticks(high: float, steps: int) -> list[float]:
    """Ticks from 0 to at least `high`, in about `steps` round steps."""
    step = round_up(high / steps)
    return [step * i for i in range(math.ceil(high / step - 1e-9) + 1)]


def change_ticks(low: float, high: float, at_most: int = 6) -> list[float]:
    """Round changes as ratios (0.9, 1, 1.1) whose logs lie in [low, high]; 1 is one of them."""
    first, last = math.exp(low) - 1, math.exp(high) - 1
    step = 0.005
    while (last - first) / step > at_most:
        step = round_up(step * 1.01)
    below = math.floor(-first / step + 1e-9)
    above = math.floor(last / step + 1e-9)
    return [1 + step * i for i in range(-below, above + 1) if 1 + step * i > 0]


def log_ticks(low: float, high: float, at_most: int = 7) -> list[float]:
    """Round values in [low, high] for a log axis, both positive: 1, 2, 5 or decades only."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for multiples in ((1, 2, 5), (1, 3), (1,)):
        ticks = [m * 10.0**d for d in decades for m in multiples]
        ticks = [t for t in ticks if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]
        if len(ticks) <= at_most:
            break
    return ticks
