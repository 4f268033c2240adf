"""Whether a series settles: MSER-5, and the change points of its level as a cross-check."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BATCH = 5
LEAST_LEFT = 5
"""Batches that are always kept: over fewer, the standard error is small by accident (White and
Spratt, The effectiveness of MSER, 2000). Keeping two makes the rule reject 4 of 10 flat series."""
LEAST_INTERVALS = BATCH * (2 * LEAST_LEFT + 1)
"""With fewer observations a cut in the second half is impossible, and the rule says nothing."""
PENALTY = 6.0
"""A change point must save this many squares, times ln(n) and the noise variance. Of flat series of
60 s, 4% have one by chance with independent noise, 8% with an autocorrelation of 0.5 from second
to second; of 300 s, under 2%. (The usual 2 ln(n), BIC, finds some in most.)"""
LEAST_BATCHES = 3
"""Batches between change points."""
MAD_TO_SD = 0.6745


@dataclass(frozen=True)
class Truncation:
    """How much of a series the rule would cut off.

    Attributes:
        intervals: observations to drop from the start.
        steady: the cut is in the first half, so that the rest can be believed.
    """

    intervals: int
    steady: bool


def mser5(series: Sequence[float]) -> Truncation | None:
    """Truncation by the Marginal Standard Error Rule over means of 5 (White, Cobb and Spratt,
    A comparison of five steady-state truncation heuristics for simulation, WSC 2000).

    It drops the d batches that minimise s^2 / (n - d), the squared standard error of the mean of
    the rest. A minimum in the second half means that the series did not settle.

    Returns:
        None with fewer than 55 observations: too short to tell.
    """
    if len(series) < LEAST_INTERVALS:
        return None
    n = len(series) // BATCH
    # a remainder is left out at the start, where it would be cut first
    values = np.asarray(series, dtype=float)[len(series) - n * BATCH :]
    batches = values.reshape(n, BATCH).mean(axis=1)
    scores = [_variance(batches[d:]) / (n - d) for d in range(n - LEAST_LEFT + 1)]
    cut = int(np.argmin(scores))
    return Truncation(intervals=cut * BATCH, steady=cut <= n / 2)


def change_points(series: Sequence[float]) -> list[int]:
    """Where the level of a series changes: least squares over means of 5, with a penalty for each
    change (Killick, Fearnhead and Eckley, Journal of the American Statistical Association 107,
    2012).

    The noise is estimated from the differences of neighbours, which level changes hardly touch.

    Returns:
        Observations before each change; empty also with fewer than 55, where `mser5` says nothing.
    """
    if len(series) < LEAST_INTERVALS:
        return []
    n = len(series) // BATCH
    skipped = len(series) - n * BATCH
    batches = np.asarray(series, dtype=float)[skipped:].reshape(n, BATCH).mean(axis=1)
    noise = float(np.median(np.abs(np.diff(batches)))) / MAD_TO_SD / math.sqrt(2)
    if noise <= 0:
        return []
    ends = _segment_ends(batches / noise, PENALTY * math.log(n))
    return [skipped + BATCH * end for end in ends]


def _variance(values: NDArray[np.float64]) -> float:
    """np.var without its argument checks, which take several times as long."""
    off = values - np.add.reduce(values) / len(values)
    return float(np.add.reduce(off * off)) / len(values)


def _segment_ends(values: NDArray[np.float64], penalty: float) -> list[int]:
    """The segments' ends, but the last, that minimise squares within segments plus a penalty each.

    Optimal partitioning (Jackson et al., IEEE Signal Processing Letters 12, 2005), the recursion
    that PELT prunes: exact as well, and for the few hundred means of a series as quick. A segment
    has at least `LEAST_BATCHES` values.
    """
    n = len(values)
    centred = values - values.mean()  # so that no digits are lost in the squares
    sums = np.concatenate([[0.0], np.cumsum(centred)])
    squares = np.concatenate([[0.0], np.cumsum(centred**2)])
    best = np.full(n + 1, np.inf)  # least cost of the values before each end
    best[0] = -penalty
    before = np.zeros(n + 1, dtype=np.intp)
    for end in range(LEAST_BATCHES, n + 1):
        starts = slice(0, end - LEAST_BATCHES + 1)
        within = squares[end] - squares[starts]
        within -= (sums[end] - sums[starts]) ** 2 / np.arange(end, LEAST_BATCHES - 1, -1)
        costs = best[starts] + within + penalty
        before[end] = np.argmin(costs)
        best[end] = costs[before[end]]
    ends: list[int] = []
    end = int(before[n])
    while end:
        ends.append(end)
        end = int(before[end])
    return ends[::-1]
