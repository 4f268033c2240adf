"""The noise of slices, and how narrow it lets comparisons inside one deployment become.

Neighbouring slices meet the same mood of the machine. So slices are not independent observations,
and neither are the differences between conditions in neighbouring passes. The variance of a mean of
n values with correlations r_1, r_2, ... is that of independent ones times
1 + 2 sum (1 - h/n) r_h. Source: G. V. Bayley and J. M. Hammersley, The "Effective" Number of
Independent Observations in an Autocorrelated Time Series, Supplement to the Journal of the Royal
Statistical Society 8 (1946). The sum ends where the correlations of two neighbouring lags first add
up to nothing: further ones are their own noise (C. J. Geyer, Practical Markov Chain Monte Carlo,
Statistical Science 7, 1992).

A study's estimate is no mean, but Huber's fit of a table. The contribution of a pass is its
jackknife pseudo-value (J. W. Tukey, 1958); the estimate is the mean of these values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from tare.analysis.slices import LEAST_PASSES, conditions_of
from tare.records.noise import MetricNoise
from tare.study.slice_schedule import PASSES_PER_EMPTY, turn_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.records.noise import Noise

LAGS = (1, 10, 40)
"""Slices: the next one, one some three seconds later, and one twelve seconds later."""
LONGEST_LAG = 0.25
"""Correlations of lags longer than this share of a series are ignored."""


def noise_of(logs: np.ndarray, order: Sequence[tuple[int, int]]) -> MetricNoise | None:
    """The noise in a table of identical conditions; None: too few passes to tell.

    Args:
        logs: log cost, passes by conditions, two conditions at least.
        order: (pass, condition) of each slice, in the order in which they were driven.
    """
    passes, conditions = logs.shape
    if passes < LEAST_PASSES:
        return None
    centred = logs - logs.mean(axis=0)
    series = np.array([centred[place] for place in order])
    own = _contributions(logs)
    variance = float((own**2).sum()) / ((passes - 1) * (conditions - 1))
    inflation = inflation_of(own)
    return MetricNoise(
        sd=math.sqrt(float((centred**2).sum()) / ((passes - 1) * conditions)),
        correlations={lag: correlation(series, lag) for lag in LAGS},
        # the log-ratio of two conditions is a contrast of length root 2
        per_pass=math.sqrt(2 * variance * inflation),
        df=max((passes / inflation - 1) * (conditions - 1), 1.0),
    )


def correlation(series: np.ndarray, lag: int) -> float | None:
    """Correlation of a series with itself `lag` places later; None where the series is too short.

    Columns of a table are separate series, whose correlations are taken together. Source: Box
    and Jenkins, Time Series Analysis, the estimator with the whole series' variance as divisor.
    """
    if lag > LONGEST_LAG * len(series):
        return None
    centred = series - series.mean(axis=0)
    whole = float((centred**2).sum())
    if whole == 0.0:
        return None
    return float((centred[lag:] * centred[:-lag]).sum()) / whole


def inflation_of(series: np.ndarray) -> float:
    """The factor by which correlation multiplies the variance of the series' mean; 1 at least.

    Alternating differences would narrow it. That is not relied on.
    """
    n, total = len(series), 0.0
    for lag in range(1, int(LONGEST_LAG * n), 2):
        near, far = correlation(series, lag) or 0.0, correlation(series, lag + 1) or 0.0
        if near + far <= 0:
            break
        total += (1 - lag / n) * near + (1 - (lag + 1) / n) * far
    return max(1.0, 1 + 2 * total)


def _contributions(logs: np.ndarray) -> np.ndarray:
    """Contribution of each pass to the fitted effects: pseudo-values, less their mean."""
    passes = len(logs)
    without = np.array([conditions_of(np.delete(logs, one, axis=0)) for one in range(passes)])
    values = -(passes - 1) * without
    return np.asarray(values - values.mean(axis=0))


def standard_error(noise: MetricNoise, slices: float) -> float:
    """Of the log-ratio of two conditions in one deployment, after so many slices of each."""
    return noise.per_pass / math.sqrt(slices)


def half_width(noise: MetricNoise, slices: float) -> float:
    """Half-width of the log-ratio's 95% interval, as a change (0.04 is 4%)."""
    t = float(special.stdtrit(noise.df, 0.975))
    return math.expm1(t * standard_error(noise, slices))


def slices_in(minutes: float, noise: Noise) -> float:
    """Slices of each of two conditions in this many minutes, in turn with empty slices."""
    alone = turn_seconds(1, noise.slice_s, noise.drain_s)
    both = turn_seconds(2, noise.slice_s, noise.drain_s) if noise.turn == "pass" else 2 * alone
    return 60 * minutes / (both + alone / PASSES_PER_EMPTY)
