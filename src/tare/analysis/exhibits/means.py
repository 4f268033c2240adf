"""Means with 95% intervals that count what was repeated, not what was averaged over."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CONFIDENCE = 0.95
WHOLES = ("cpu.util", "cpu.softirq")
"""Shares of the whole machine, in percent."""


def most_of(metric: str) -> float:
    """The largest possible value of a metric: 100% for shares of the whole machine's CPU."""
    return 100.0 if metric in WHOLES else math.inf


@dataclass(frozen=True)
class Mean:
    """A mean and its 95% interval; no interval where nothing was repeated.

    Attributes:
        repeated: number of values that the interval counts.
    """

    value: float
    low: float | None
    high: float | None
    repeated: int


def mean_over(strata: Iterable[Sequence[float]], most: float = math.inf) -> Mean | None:
    """The plain mean of the strata's means, each stratum with the same weight.

    The interval is Student's t with the degrees of freedom of Welch and Satterthwaite: the
    variance of the mean is the sum of the strata's s^2/n, over the number of strata squared. With
    a one-value stratum there is no interval. If no value is negative, the mean cannot be negative
    either: the interval then ends at 0, which takes nothing from its coverage.

    Args:
        strata: per condition, its repeated values.
        most: the largest possible value, such as 100% of a machine's CPU; the interval ends there.
    """
    samples = [np.asarray(values, dtype=float) for values in strata if len(values)]
    if not samples:
        return None
    value = float(np.mean([sample.mean() for sample in samples]))
    repeated = sum(len(sample) for sample in samples)
    if any(len(sample) < 2 for sample in samples):
        return Mean(value, None, None, repeated)
    parts = [float(sample.var(ddof=1)) / len(sample) for sample in samples]
    total = sum(parts)
    if total == 0:
        return Mean(value, value, value, repeated)
    df = total**2 / sum(v**2 / (len(s) - 1) for v, s in zip(parts, samples, strict=True))
    reach = float(special.stdtrit(df, 0.5 + CONFIDENCE / 2)) * math.sqrt(total) / len(samples)
    low = value - reach
    if all(sample.min() >= 0 for sample in samples):
        low = max(low, 0.0)
    return Mean(value, low, max(value, min(value + reach, most)), repeated)


def independent(values: Mapping[str, float], deployments: Mapping[str, str]) -> list[float]:
    """One value per deployment where there are several; else the trials' own.

    Trials of one deployment are more alike than their condition makes them, so an interval over
    them would be too narrow.

    Args:
        values: trial to value.
        deployments: trial to the deployment that served it.
    """
    lives: dict[str, list[float]] = {}
    for trial, value in values.items():
        lives.setdefault(deployments.get(trial, trial), []).append(value)
    if len(lives) < 2:
        return list(values.values())
    return [float(np.mean(own)) for own in lives.values()]
