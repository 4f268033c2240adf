"""MSER-5: where a series' start-up transient ends, and whether it ever does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH = 5
LEAST_LEFT = 5
"""Batches that are always kept: over fewer, the standard error is small by accident (White and
Spratt, The effectiveness of MSER, 2000). Keeping two makes it reject 4 of 10 flat series."""
LEAST_INTERVALS = BATCH * (2 * LEAST_LEFT + 1)
"""With fewer observations a cut in the second half is impossible, and the rule says nothing."""


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

    Drops the d batches that minimise s^2 / (n - d), the squared standard error of the mean of the
    rest. A minimum in the second half means that the series did not settle.

    Returns:
        None with fewer than 55 observations: too short to tell.
    """
    if len(series) < LEAST_INTERVALS:
        return None
    n = len(series) // BATCH
    # a remainder is left out at the start, where it would be cut first
    values = np.asarray(series, dtype=float)[len(series) - n * BATCH :]
    batches = values.reshape(n, BATCH).mean(axis=1)
    scores = [float(np.var(batches[d:])) / (n - d) for d in range(n - LEAST_LEFT + 1)]
    cut = int(np.argmin(scores))
    return Truncation(intervals=cut * BATCH, steady=cut <= n / 2)
