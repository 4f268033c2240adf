"""Histograms of times: added exactly, and read at percentiles."""

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
ROOM = 1024
"""Bins beyond the filled ones that a growing sum gets: an octave of time at 3 digits."""


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
        """Check that both have the same resolution.

        Raises:
            RecordError: their resolutions differ.
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

        As in HdrHistogram, it is the highest value equivalent to the one at the wanted rank. So
        the error is at most the histogram's resolution, 0.1% for 3 digits.
        """
        cumulated = np.cumsum(self.counts)
        total = int(cumulated[-1]) if cumulated.size else 0
        if not total:
            return []
        ranks = [_rank(p, total) for p in percentiles]
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

    def shape(self) -> tuple[float, float] | None:
        """Skewness and kurtosis, the third and fourth standardised moments of the bins' midpoints:
        0 and 3 of a normal distribution; None where all observations lie in one bin."""
        filled = np.flatnonzero(self.counts)
        if filled.size < 2:
            return None
        low, width = self._bounds(self.first + filled)
        values, weights = low + width / 2, self.counts[filled]
        apart = values - np.average(values, weights=weights)
        scaled = apart / math.sqrt(float(np.average(apart**2, weights=weights)))
        third, fourth = (float(np.average(scaled**power, weights=weights)) for power in (3, 4))
        return third, fourth

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


class Sum:
    """Histograms added up in place, in an array with room on both sides."""

    def __init__(self) -> None:
        self._room = Latencies()
        self._first = self._end = 0

    def add(self, part: Latencies) -> None:
        """Add a histogram's observations.

        Raises:
            RecordError: it does not have the resolution of those before it.
        """
        counts, first = part.counts, part.first
        if not counts.size:
            return
        end = first + counts.size
        room = self._room
        if (room.unit, room.half, room.tick_ns) != (part.unit, part.half, part.tick_ns):
            if self._end:
                room.check_alike(part)
            self._room = room = replace(part, counts=np.zeros(0, np.int64), first=first)
        if first < room.first or end > room.end:
            self._make_room(first, end)
        start = room.first
        room.counts[first - start : end - start] += counts
        self._first = min(self._first, first) if self._end else first
        self._end = max(self._end, end)

    def _make_room(self, first: int, end: int) -> None:
        """Room for these indices, for the filled ones, and for more beyond."""
        room = self._room
        if self._end:
            first, end = min(first, self._first), max(end, self._end)
        start = max(0, first - ROOM)
        counts = np.zeros(end + ROOM - start, np.int64)
        counts[self._first - start : self._end - start] = self._filled()
        room.counts, room.first = counts, start

    def _filled(self) -> NDArray[np.int64]:
        start = self._room.first
        return self._room.counts[self._first - start : self._end - start]

    def latencies(self) -> Latencies:
        """The sum, as a histogram of its own."""
        return replace(self._room, counts=self._filled().copy(), first=self._first)

    def clear(self) -> None:
        """Forget what was added, and keep the room."""
        self._filled()[:] = 0
        self._first = self._end = 0


def _rank(percentile: float, total: int) -> int:
    """Rank, from 1, of the observation at the percentile, out of so many in order."""
    return max(1, math.ceil(percentile / 100 * total - 1e-6))
