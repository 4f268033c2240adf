"""Histograms of times: added exactly, and asked for percentiles."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from tare.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hdrh.histogram import HdrHistogram
    from numpy.typing import NDArray

NS_PER_US = 1000.0
BLOCK = 64
"""Bins that are summed at once when many percentiles are looked up."""


@dataclass
class Latencies:
    """A histogram of times that can be added to others of the same resolution.

    Attributes:
        counts: observations per HdrHistogram index from `first` on, int64, shape (indices,).
        unit: log2 of the smallest distinguishable value, nanoseconds.
        half: log2 of half the number of sub-buckets; 10 for 3 significant digits.
        tick_ns: nanoseconds per recorded unit; 1 but for logs of other tools.
        first: HdrHistogram index of the first of the counts.
    """

    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    unit: int = 0
    half: int = 10
    tick_ns: int = 1
    first: int = 0

    @classmethod
    def of(cls, histogram: HdrHistogram) -> Latencies:
        """Copy a decoded histogram."""
        counts = np.frombuffer(histogram.counts, dtype=np.int64)
        filled = np.flatnonzero(counts)
        first, end = (int(filled[0]), int(filled[-1]) + 1) if filled.size else (0, 0)
        return cls(
            counts[first:end].copy(),
            histogram.unit_magnitude,
            histogram.sub_bucket_half_count_magnitude,
            first=first,
        )

    @property
    def end(self) -> int:
        """HdrHistogram index behind the last of the counts."""
        return self.first + self.counts.size

    @property
    def total(self) -> int:
        """Number of observations."""
        return int(self.counts.sum())

    def check_alike(self, other: Latencies) -> None:
        """Both have the same resolution.

        Raises:
            RecordError: they have not.
        """
        if (self.unit, self.half, self.tick_ns) != (other.unit, other.half, other.tick_ns):
            raise RecordError(
                "histograms of different resolution cannot be merged",
                why=f"smallest value 2^{self.unit} and 2^{other.unit} ns, "
                f"sub-buckets 2^{self.half + 1} and 2^{other.half + 1}",
                remedy="measure all trials of a study with the same tare-load",
            )

    def add(self, other: Latencies) -> None:
        """Add the other's observations to this one.

        Raises:
            RecordError: the two do not have the same resolution.
        """
        if not other.counts.size:
            return
        if not self.counts.size:
            self.counts, self.unit, self.half = other.counts.copy(), other.unit, other.half
            self.tick_ns, self.first = other.tick_ns, other.first
            return
        self.check_alike(other)
        if other.first < self.first or other.end > self.end:
            first, end = min(self.first, other.first), max(self.end, other.end)
            grown = np.zeros(end - first, np.int64)
            grown[self.first - first : self.end - first] = self.counts
            self.counts, self.first = grown, first
        self.counts[other.first - self.first : other.end - self.first] += other.counts

    def quantiles_us(self, percentiles: Sequence[float]) -> list[float]:
        """Values at the percentiles (0 to 100) in microseconds; empty where nothing was counted.

        As HdrHistogram does it: the highest value equivalent to the one at the wanted rank, so
        the error is at most the histogram's resolution, 0.1% for 3 digits.
        """
        cumulated = np.cumsum(self.counts)
        total = int(cumulated[-1]) if cumulated.size else 0
        if not total:
            return []
        ranks = [max(1, math.ceil(p / 100 * total - 1e-6)) for p in percentiles]
        return [float(v) for v in self.highest_us(np.searchsorted(cumulated, ranks))]

    def highest_us(self, places: NDArray[np.intp]) -> NDArray[np.float64]:
        """The highest values, microseconds, that are counted at these places of `counts`."""
        low, width = self._bounds(self.first + places)
        return (low + width - 1) * self.tick_ns / NS_PER_US

    def mean_us(self) -> float | None:
        """Mean of the bins' midpoints in microseconds; None where nothing was counted."""
        filled = np.flatnonzero(self.counts)
        if not filled.size:
            return None
        low, width = self._bounds(self.first + filled)
        mean = np.average(low + width / 2, weights=self.counts[filled])
        return float(mean * self.tick_ns / NS_PER_US)

    def _bounds(self, indices: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lowest value and width of the bins at these indices, nanoseconds."""
        size = 1 << self.half
        bucket = (indices >> self.half) - 1
        sub = (indices & (size - 1)) + size
        first = bucket < 0
        shift = (np.where(first, 0, bucket) + self.unit).astype(np.int64)
        low = np.where(first, sub - size, sub).astype(np.int64) << shift
        return low, np.int64(1) << shift


def merged(parts: Iterable[Latencies]) -> Latencies:
    """All observations of all parts together.

    Raises:
        RecordError: they do not have the same resolution.
    """
    filled = [part for part in parts if part.counts.size]
    if not filled:
        return Latencies()
    one = filled[0]
    first, end = min(part.first for part in filled), max(part.end for part in filled)
    counts = np.zeros(end - first, np.int64)
    for part in filled:
        one.check_alike(part)
        counts[part.first - first : part.end - first] += part.counts
    return replace(one, counts=counts, first=first)


def row_quantiles_us(rows: Sequence[Sequence[Latencies]], percentile: float) -> list[float | None]:
    """Per row, the percentile of its parts together, microseconds; None where nothing was counted.

    The same as merging each row and asking it, done for all rows at once.

    Raises:
        RecordError: parts do not have the same resolution.
    """
    parts = [part for row in rows for part in row if part.counts.size]
    if not parts:
        return [None for _ in rows]
    one = parts[0]
    if any((p.unit, p.half, p.tick_ns) != (one.unit, one.half, one.tick_ns) for p in parts):
        return [next(iter(merged(row).quantiles_us([percentile])), None) for row in rows]
    first, end = min(part.first for part in parts), max(part.end for part in parts)
    blocks = -(-(end - first) // BLOCK)
    table = np.zeros((len(rows), blocks * BLOCK), np.int64)
    for own, row in zip(table, rows, strict=True):
        for part in row:
            start = part.first - first
            own[start : start + part.counts.size] += part.counts
    whole = replace(one, counts=table[0], first=first)
    totals, places = _places(table.reshape(len(rows), blocks, BLOCK), percentile)
    values = whole.highest_us(places)
    return [float(v) if n else None for v, n in zip(values, totals, strict=True)]


def _places(
    table: NDArray[np.int64], percentile: float
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Per row of a table (rows, blocks, BLOCK): its total, and the place of the percentile.

    First the block is looked up, then the place in it: quicker than cumulating everything.
    """
    every = np.arange(len(table))
    blocks = np.cumsum(table.sum(axis=2), axis=1)
    totals = blocks[:, -1]
    ranks = np.maximum(1, np.ceil(percentile / 100 * totals - 1e-6)).astype(np.int64)
    block = np.minimum((blocks < ranks[:, None]).sum(axis=1), table.shape[1] - 1)
    inside = table[every, block]
    before = blocks[every, block] - inside.sum(axis=1)
    reached = np.cumsum(inside, axis=1) + before[:, None]
    return totals, block * BLOCK + np.minimum((reached < ranks[:, None]).sum(axis=1), BLOCK - 1)
