"""The JVM's garbage collection log: every pause, with its length and what it freed.

Written with `OPTION` below, one line per pause:

    [1795274158778ms] GC(33) Pause Young (Normal) (G1 Evacuation Pause) 382M->192M(512M) 84.048ms

The time is the end of the pause, in milliseconds since 1970 (decorator `timemillis`). The format is
HotSpot's unified logging (JEP 158, JEP 271), the same from Java 9 on for every collector.
docs/decisions/0007 says why the log is used, and not the JVM's shared counters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

LOG = "gc.log"
"""file name in a directory that exists before the JVM starts; the JVM needs it to start"""
MOST_BYTES = 64 << 20
"""most bytes of the log that are read for a trial; 60 pauses a second for an hour are 25 MB"""

_PAUSE = re.compile(
    r"\[(?P<ms>\d{1,15})ms\]\s+GC\(\d+\) Pause (?P<kind>.{1,80}?)"
    r"(?: (?P<before>\d{1,9})(?P<bu>[KMG])->(?P<after>\d{1,9})(?P<au>[KMG])\(\d{1,9}[KMG]\))?"
    r" (?P<length>\d{1,9}(?:\.\d{1,6})?)ms$"
)
_COLLECTORS = re.compile(r"Using (G1|Serial|Parallel|Shenandoah|Concurrent Mark Sweep)")
"""Collectors whose pauses are in the log at this level. ZGC's are not (its cycles are)."""
_HEADER_BYTES = 4096
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def option(directory: str) -> str:
    """The JVM's argument: log pauses only, to a file that is never rotated away mid-trial."""
    return f'-Xlog:gc=info:file="{directory}/{LOG}":timemillis:filecount=0'


@dataclass(frozen=True)
class Pause:
    """One stop of the application.

    Attributes:
        ended: Unix time, seconds.
        seconds: its length.
        kind: in the JVM's words: 'Young (Normal) (G1 Evacuation Pause)'.
        before, after: bytes in use on the heap, in whole MiB as the log has them; None where the
            collector does not say (ZGC's pauses free nothing).
    """

    ended: float
    seconds: float
    kind: str
    before: int | None
    after: int | None


def parse(lines: Iterable[str]) -> list[Pause]:
    """The pauses among the lines of a log, in order; other lines are skipped."""
    found = []
    for line in lines:
        match = _PAUSE.match(line.rstrip())
        if match:
            heap = match["before"] is not None
            found.append(
                Pause(
                    ended=int(match["ms"]) / 1e3,
                    seconds=float(match["length"]) / 1e3,
                    kind=match["kind"].strip(),
                    before=int(match["before"]) * _UNITS[match["bu"]] if heap else None,
                    after=int(match["after"]) * _UNITS[match["au"]] if heap else None,
                )
            )
    return found


def counts(pauses: Sequence[Pause]) -> dict[str, float]:
    """gc.pauses, gc.pause_s and, from two pauses on, gc.allocated_bytes_per_s.

    The rate is the heap's growth between pauses over the time from the first pause to the last.
    """
    found = {"gc.pauses": float(len(pauses)), "gc.pause_s": sum(p.seconds for p in pauses)}
    heap = [(p.ended, p.before, p.after) for p in pauses]
    grown, span = 0.0, 0.0
    for (earlier, _, after), (later, before, _) in pairwise(heap):
        if after is not None and before is not None:
            grown += max(before - after, 0)
            span += later - earlier
    if span > 0:
        found["gc.allocated_bytes_per_s"] = grown / span
    return found


def log_of(pid: int, directory: str, proc: Path = Path("/proc")) -> Path:
    """The log of a running node, whatever its root directory is."""
    return proc / str(pid) / "root" / directory.lstrip("/") / LOG


def read_from(log: Path, offset: int) -> list[Pause] | None:
    """The pauses that were logged after `offset` bytes; None: this collector logs no pauses.

    Raises:
        OSError: the log cannot be read.
    """
    with log.open("rb") as file:
        if not _COLLECTORS.search(file.read(_HEADER_BYTES).decode("utf-8", errors="replace")):
            return None
        file.seek(offset)
        text = file.read(MOST_BYTES).decode("utf-8", errors="replace")
    return parse(text.splitlines())
