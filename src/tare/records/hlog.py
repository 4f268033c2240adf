"""Reads interval histogram logs (.hlog, V2) and merges their histograms exactly.

Decoding is the hdrhistogram package's. The log's lines are split here, because that package's own
log reader passes over lines that it cannot read without a word, and a truncated log must show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import is_
from typing import TYPE_CHECKING, NamedTuple

from tare.errors import RecordError
from tare.records.decoder import DECODE_ERRORS as DECODE_ERRORS
from tare.records.decoder import Decoder
from tare.records.latencies import Latencies as Latencies
from tare.records.latencies import merged as merged

if TYPE_CHECKING:
    from pathlib import Path

LONGEST_LINE = 1 << 20
"""Longest line that is decoded, in characters. A full histogram of 3 digits takes under 100,000;
the limit keeps a hostile file from unpacking into all of the memory."""


class Interval(NamedTuple):
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
    decoder = Decoder()
    parts: dict[str, list[Latencies]] = {}
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                if line[0] in '#"\n':  # comments, the legend, nothing
                    continue
                try:
                    _take_line(log, parts, parse_line(line.rstrip("\n"), decoder))
                except (*DECODE_ERRORS, RecordError) as error:
                    reason = error.what if isinstance(error, RecordError) else type(error).__name__
                    log.damage.append(f"{path.name}:{number}: unreadable histogram ({reason})")
    except OSError as error:
        raise RecordError(
            "a histogram log cannot be read", where=str(path), why=error.strerror or str(error)
        ) from error
    log.totals |= _totals(parts)
    return log


def _take_line(log: HistogramLog, parts: dict[str, list[Latencies]], interval: Interval) -> None:
    """Keep an interval, if it can be added to the others of its tag."""
    own = parts.setdefault(interval.tag, [])
    found = interval.latencies
    if found.counts.size:
        if own:
            own[0].check_alike(found)
        own.append(found)
    log.intervals.append(interval)


def _totals(parts: dict[str, list[Latencies]]) -> dict[str, Latencies]:
    """Per tag, its parts together; tags with the very same parts, as in closed loop, at once."""
    totals: dict[str, Latencies] = {}
    for tag, own in parts.items():
        for other, total in totals.items():
            if len(own) == len(parts[other]) and all(map(is_, own, parts[other])):
                totals[tag] = replace(total, counts=total.counts.copy())
                break
        else:
            totals[tag] = merged(own)
    return totals


def parse_line(line: str, decoder: Decoder | None = None) -> Interval:
    """`[Tag=NAME,]start,length,max,histogram`, times in seconds."""
    if len(line) > LONGEST_LINE:
        raise ValueError("line too long")
    tag = ""
    if line.startswith("Tag="):
        tag, _, line = line[4:].partition(",")
    start, length, _, text = line.split(",", 3)
    decoder = decoder or Decoder()
    return Interval(tag, float(start), float(length), decoder.latencies(text))
