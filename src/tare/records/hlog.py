"""Reads interval histogram logs (.hlog, V2) and merges their histograms exactly.

The hdrhistogram package decodes. The log's lines are split here, because the package's own log
reader silently skips lines that it cannot read, and a truncated log must show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tare.errors import RecordError
from tare.records.decoder import DECODE_ERRORS as DECODE_ERRORS
from tare.records.decoder import Decoder
from tare.records.latencies import Latencies as Latencies
from tare.records.latencies import Sum
from tare.records.latencies import merged as merged

if TYPE_CHECKING:
    from pathlib import Path

try:
    from tare.records import quick_hlog
except ImportError:  # not built: the same, slower
    quick_hlog = None  # type: ignore[assignment]

LONGEST_LINE = 1 << 20
"""Longest line that is decoded, in characters. A full histogram of 3 digits takes under 100,000;
the limit keeps a hostile file from unpacking into all of the memory."""
P99 = 99.0
RESPONSE = "-rt"
"""Tags with this ending are of response times."""


class LoggedInterval(NamedTuple):
    """One line of a log: the histogram of one tag in one interval."""

    tag: str
    start_s: float
    length_s: float
    latencies: Latencies


class Responses(NamedTuple):
    """The response times of all operations in one interval, and their 99th percentile."""

    start_s: float
    length_s: float
    p99_us: float
    latencies: Latencies


@dataclass
class HistogramLog:
    """One client's histograms: per tag in all, and per interval.

    Attributes:
        totals: tag, such as READ-rt, to everything measured under it.
        responses: per interval with any, in the order of the file; start_s is on the file's clock.
        damage: one sentence per line that could not be used.
        start_s: start of the first interval of any tag; 0 where there is none.
    """

    totals: dict[str, Latencies] = field(default_factory=dict)
    responses: list[Responses] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    start_s: float = 0.0


def read_hlog(path: Path) -> HistogramLog:
    """Read a whole log; lines that cannot be read are named in its `damage`.

    Raises:
        RecordError: the file is missing or cannot be read at all.
    """
    return _quickly(path) or _carefully(path)


def _quickly(path: Path) -> HistogramLog | None:
    """By the compiled reader, which accepts only logs with nothing unusual in them."""
    found = quick_hlog.read(path, P99) if quick_hlog else None
    if found is None:
        return None
    start_s, groups, rows, half = found
    totals: dict[str, Latencies] = {}
    for tags, counts in groups:
        for tag in tags:
            totals.setdefault(tag, Latencies()).add(_latencies(counts, half))
    values = Latencies(half=half).highest_us(np.array([row[2] for row in rows], np.intp)).tolist()
    responses = [
        Responses(start, length, value, _latencies(counts, half))
        for (start, length, _, counts), value in zip(rows, values, strict=True)
    ]
    return HistogramLog(totals, responses, start_s=start_s)


def _latencies(counts: tuple[int, bytes], half: int) -> Latencies:
    first, filled = counts
    return Latencies(np.frombuffer(filled, np.int64), half=half, first=first)


def _carefully(path: Path) -> HistogramLog:
    """Line by line; lines that cannot be read are named."""
    adding = _Adding(path.name)
    same = _Same()
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                if line[0] in '#"\n':  # comments, the legend, nothing
                    continue
                tag, rest = _without_tag(line.rstrip("\n"))
                if rest != same.rest:
                    adding.take(same)
                    same = _Same(rest)
                same.tags += (tag,)
                same.numbers.append(number)
    except OSError as error:
        raise RecordError(
            "a histogram log cannot be read", where=str(path), why=error.strerror or str(error)
        ) from error
    adding.take(same)
    return adding.log()


@dataclass
class _Same:
    """Lines in a row that differ only in their tags: in closed loop, service and response time."""

    rest: str = ""
    tags: tuple[str, ...] = ()
    numbers: list[int] = field(default_factory=list)


class _Adding:
    """The sum of a log so far."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._decoder = Decoder()
        self._totals: dict[tuple[str, ...], Sum] = {}
        self._row, self._when = Sum(), (0.0, 0.0)
        self._rows: dict[tuple[float, float], Latencies] = {}
        self._first: float | None = None
        self._damage: list[str] = []
        self._like: Latencies | None = None

    def take(self, same: _Same) -> None:
        """Add the histogram of these lines, or say why not."""
        if not same.tags:
            return
        try:
            self._add(same.tags, _parsed("", same.rest, self._decoder))
        except (*DECODE_ERRORS, RecordError) as error:
            reason = error.what if isinstance(error, RecordError) else type(error).__name__
            self._damage += [
                f"{self._name}:{number}: unreadable histogram ({reason})" for number in same.numbers
            ]

    def _add(self, tags: tuple[str, ...], interval: LoggedInterval) -> None:
        when, found = interval[1:3], interval.latencies
        if not all(map(math.isfinite, when)):
            raise ValueError("no span of time")
        if found.counts.size:
            self._like = self._like or found
            self._like.check_alike(found)
        self._first = when[0] if self._first is None else min(self._first, when[0])
        total = self._totals.get(tags)
        if total is None:
            total = self._totals[tags] = Sum()
        total.add(found)
        for tag in tags:
            if tag.endswith(RESPONSE):
                if when != self._when:
                    self._end_row()
                    self._when = when
                self._row.add(found)

    def _end_row(self) -> None:
        """Keep the added-up interval, with earlier values of it."""
        own = self._row.latencies()
        if own.counts.size:
            before = self._rows.get(self._when)
            self._rows[self._when] = own if before is None else merged([before, own])
        self._row.clear()

    def log(self) -> HistogramLog:
        """The whole log."""
        self._end_row()
        totals: dict[str, Latencies] = {}
        for tags, total in self._totals.items():
            for tag in tags:
                totals.setdefault(tag, Latencies()).add(total.latencies())
        rows = [
            Responses(*when, own.quantiles_us([P99])[0], own) for when, own in self._rows.items()
        ]
        return HistogramLog(totals, rows, self._damage, self._first or 0.0)


def parse_line(line: str, decoder: Decoder | None = None) -> LoggedInterval:
    """`[Tag=NAME,]start,length,max,histogram`, times in seconds."""
    return _parsed(*_without_tag(line), decoder or Decoder())


def _without_tag(line: str) -> tuple[str, str]:
    """The tag and the rest of a line."""
    if not line.startswith("Tag="):
        return "", line
    tag, _, rest = line.partition(",")
    return tag[4:], rest


def _parsed(tag: str, rest: str, decoder: Decoder) -> LoggedInterval:
    if len(rest) > LONGEST_LINE:
        raise ValueError("line too long")
    start, length, _, text = rest.split(",", 3)
    return LoggedInterval(tag, float(start), float(length), decoder.latencies(text))
