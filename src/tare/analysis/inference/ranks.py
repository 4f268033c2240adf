"""Rank tests, exact where nothing is tied: Wilcoxon, Mann and Whitney, and van Elteren.

The usual library checks its arguments for longer than it computes, and a study makes hundreds of
comparisons. So the null distributions are made here, once per size. Tested against scipy.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Cells = Sequence[tuple[Sequence[float], Sequence[float]]]
    """Per cell: baseline's values, treatment's values."""

MOST_EXACT = 50
"""A null distribution is made exactly for up to this many observations."""


def signed_ranks(differences: Sequence[float]) -> float:
    """Two-sided p of Wilcoxon's signed-rank test (1945) of a median of 0.

    Zeros are left out, ties share their mean rank. Exact with up to 50 differences, given the ties;
    else scipy's approximation.
    """
    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]
    if not values.size:
        return 1.0
    if len(values) > MOST_EXACT:
        from scipy import stats  # takes half a second to import, and is seldom needed

        return float(stats.wilcoxon(values).pvalue)
    doubled = _doubled_ranks(np.abs(values))
    return _two_sided(_signed(tuple(sorted(doubled.tolist()))), float(doubled[values > 0].sum()))


def _doubled_ranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Twice the rank of each value, which is a whole number also where ties share a mean rank."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    return (2 * np.cumsum(times) - times + 1)[place]


def rank_sums(cells: Cells) -> float:
    """Two-sided p of equal distributions inside every cell; repetitions are independent.

    One cell: Mann and Whitney (1947). Several: the sum of their U over cells, van Elteren's (1960)
    test with equal weights. Exact without ties in cells of up to 50 repetitions; else the normal
    approximation with continuity correction, ties counting a half.
    """
    total = variance = 0.0
    exact = True
    sizes = []
    for base, treated in cells:
        n, m = len(base), len(treated)
        apart = np.subtract.outer(np.asarray(treated), np.asarray(base))
        tied = int((apart == 0).sum())
        total += float((apart > 0).sum()) + 0.5 * tied
        variance += n * m * (n + m + 1) / 12
        exact = exact and not tied and n + m <= MOST_EXACT
        sizes.append((min(n, m), max(n, m)))
    if exact:
        return _two_sided(_summed(tuple(sorted(sizes))), total)
    middle = sum(n * m for n, m in sizes) / 2
    z = max(0.0, abs(total - middle) - 0.5) / math.sqrt(variance)
    return min(1.0, 2 * float(special.ndtr(-z)))


def least_rank_sums(cells: Cells) -> float:
    """The smallest two-sided p that these numbers of repetitions allow."""
    ways = 1.0
    for base, treated in cells:
        ways *= math.comb(len(base) + len(treated), len(base))
    return 2 / ways


def _two_sided(shares: NDArray[np.float64], statistic: float) -> float:
    """Twice the smaller tail of a symmetric distribution over 0, 1, 2, ..."""
    at = round(statistic)
    return min(1.0, 2 * float(min(shares[: at + 1].sum(), shares[at:].sum())))


@lru_cache(maxsize=256)
def _signed(ranks: tuple[int, ...]) -> NDArray[np.float64]:
    """Shares of each sum of positive ranks: every sign is as likely."""
    shares = np.ones(1)
    for rank in ranks:
        longer = np.zeros(len(shares) + rank)
        longer[: len(shares)] += shares / 2
        longer[rank:] += shares / 2
        shares = longer
    return shares


@lru_cache(maxsize=64)
def _summed(sizes: tuple[tuple[int, int], ...]) -> NDArray[np.float64]:
    """Shares of each sum of U over cells of these sizes."""
    shares = np.ones(1)
    for n, m in sizes:
        shares = np.convolve(shares, _u(n, m))
    return shares


@lru_cache(maxsize=512)
def _u(n: int, m: int) -> NDArray[np.float64]:
    """Shares of U = 0 .. n m: the last in rank is the baseline's or the treatment's (Mann and
    Whitney 1947, equation 2)."""
    if n == 0 or m == 0:
        return np.ones(1)
    shares = np.zeros(n * m + 1)
    without_baseline, without_treatment = _u(n - 1, m), _u(n, m - 1)
    shares[: len(without_baseline)] += without_baseline * n / (n + m)
    shares[n : n + len(without_treatment)] += without_treatment * m / (n + m)
    return shares
