"""Reads interval histogram logs (.hlog, V2) and merges their histograms exactly.

Decoding is the hdrhistogram package's. The log's lines are split here, because that package's own
log reader passes over lines that it cannot read without a word, and a truncated log must show.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from hdrh.codec import (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
)
from hdrh.histogram import HdrHistogram

from tare.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

LONGEST_LINE = 1 << 20
"""Longest line that is decoded, in characters. A full histogram of 3 digits takes under 100,000;
the limit keeps a hostile file from unpacking into all of the memory."""

NS_PER_US = 1000.0

_DECODE_ERRORS = (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
    zlib.error,
    ValueError,
    TypeError,
    IndexError,
    OverflowError,
    MemoryError,
    AssertionError,
)


@dataclass
class Latencies:
    """A histogram of times that can be added to others of the same resolution.

    Attributes:
        counts: observations per HdrHistogram index, int64, shape (indices,).
        unit: log2 of the smallest distinguishable value, nanoseconds.
        half: log2 of half the number of sub-buckets; 10 for 3 significant digits.
    """

    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    unit: int = 0
    half: int = 10

    @classmethod
    def of(cls, histogram: HdrHistogram) -> Latencies:
        """Copy a decoded histogram."""
        counts = np.frombuffer(histogram.counts, dtype=np.uint64).astype(np.int64)
        return cls(
            np.trim_zeros(counts, "b"),
            histogram.unit_magnitude,
            histogram.sub_bucket_half_count_magnitude,
        )

    @property
    def total(self) -> int:
        """Number of observations."""
        return int(self.counts.sum())

    def add(self, other: Latencies) -> None:
        """Add the other's observations to this one.

        Raises:
            RecordError: the two do not have the same resolution.
        """
        if not other.counts.size:
            return
        if not self.counts.size:
            self.counts, self.unit, self.half = other.counts.copy(), other.unit, other.half
            return
        if (self.unit, self.half) != (other.unit, other.half):
            raise RecordError(
                "histograms of different resolution cannot be merged",
                why=f"smallest value 2^{self.unit} and 2^{other.unit} ns, "
                f"sub-buckets 2^{self.half + 1} and 2^{other.half + 1}",
                remedy="measure all trials of a study with the same tare-load",
            )
        longer, shorter = self.counts, other.counts
        if longer.size < shorter.size:
            longer, shorter = shorter.copy(), longer
        longer[: shorter.size] += shorter
        self.counts = longer

    def quantiles_us(self, percentiles: Sequence[float]) -> list[float]:
        """Values at the percentiles (0 to 100) in microseconds; empty where nothing was counted.

        As HdrHistogram does it: the highest value equivalent to the one at the wanted rank, so
        the error is at most the histogram's resolution, 0.1% for 3 digits.
        """
        if not self.total:
            return []
        cumulated = np.cumsum(self.counts)
        total = int(cumulated[-1])
        ranks = [max(1, math.ceil(p / 100 * total - 1e-6)) for p in percentiles]
        indices = np.searchsorted(cumulated, ranks, side="left")
        low, width = self._bounds(indices)
        return [float(v) for v in (low + width - 1) / NS_PER_US]

    def mean_us(self) -> float | None:
        """Mean of the bins' midpoints in microseconds; None where nothing was counted."""
        filled = np.flatnonzero(self.counts)
        if not filled.size:
            return None
        low, width = self._bounds(filled)
        return float(np.average(low + width / 2, weights=self.counts[filled]) / NS_PER_US)

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
    """All observations of all parts together."""
    whole = Latencies()
    for part in parts:
        whole.add(part)
    return whole


@dataclass(frozen=True)
class Interval:
    """One line of a log: what one tag saw in one interval."""

    tag: str
    start_s: float
    length_s: float
    latencies: Latencies


@dataclass
class HistogramLog:
    """One client's histograms: per tag in all, and per interval.

    Attributes:
        totals: tag, such as READ-rt, to everything measured under it.
        intervals: in the order of the file; start_s counts from the start of the measured part.
        damage: one sentence per line that could not be used.
    """

    totals: dict[str, Latencies]
    intervals: list[Interval]
    damage: list[str]


def read_hlog(path: Path) -> HistogramLog:
    """Read a whole log; lines that cannot be read are named in its `damage`.

    Raises:
        RecordError: the file is missing or cannot be read at all.
    """
    log = HistogramLog({}, [], [])
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                _take_line(log, path, number, line.rstrip("\r\n"))
    except OSError as error:
        raise RecordError(
            "a histogram log cannot be read", where=str(path), why=error.strerror or str(error)
        ) from error
    return log


def _take_line(log: HistogramLog, path: Path, number: int, line: str) -> None:
    if not line or line[0] in '#"':  # comments and the legend
        return
    try:
        interval = _parse(line)
        log.totals.setdefault(interval.tag, Latencies()).add(interval.latencies)
    except (*_DECODE_ERRORS, RecordError) as error:
        reason = error.what if isinstance(error, RecordError) else type(error).__name__
        log.damage.append(f"{path.name}:{number}: unreadable histogram ({reason})")
        return
    log.intervals.append(interval)


def _parse(line: str) -> Interval:
    """`[Tag=NAME,]start,length,max,histogram`, times in seconds."""
    if len(line) > LONGEST_LINE:
        raise ValueError("line too long")
    tag = ""
    if line.startswith("Tag="):
        tag, _, line = line[4:].partition(",")
    start, length, _, text = line.split(",", 3)
    return Interval(tag, float(start), float(length), Latencies.of(HdrHistogram.decode(text)))
