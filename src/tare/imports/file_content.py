"""The content of another tool's file, whichever the tool; and the error of an unreadable file."""

from __future__ import annotations

from dataclasses import dataclass, field

LONGEST_S = 31 * 86400.0
"""No trial lasts longer."""
LATEST = 253_402_000_000.0
"""Unix time near the end of the year 9999, the last that a date can name."""


class UnreadableError(Exception):
    """A file that is damaged, cut off, of another version or tool; the text says why."""


@dataclass(frozen=True)
class PrintedInterval:
    """The load client's printed values of one interval.

    Attributes:
        t: end of the interval, seconds after the start of the measured part.
        ops_per_s: operations per second.
        p99_us: 99th percentile latency over all operations, microseconds; None: not printed.
    """

    t: float
    ops_per_s: float
    p99_us: float | None = None


@dataclass(frozen=True)
class SeriesValue:
    """One value of a machine's series, under the name and unit that tare-probe gives it.

    Attributes:
        t: end of the interval: Unix seconds, or seconds since the beginning of the file where
            the tool printed no time of day.
    """

    t: float
    metric: str
    value: float


@dataclass
class FileReading:
    """One trial, or a part of one, as read from a file.

    Attributes:
        values: metric to value as printed, in Tare's units (us, operations/s).
        seconds: length of the measured part; None where the file does not say.
        started: Unix time of its start; None where the file does not say.
        operations: operations that succeeded; None where the file does not say.
        errors_by_kind: the tool's name of an error to how often it occurred.
        intervals: the load client's series.
        histograms: lines of an interval histogram log, without comments.
        tick_ns: the histograms' unit, nanoseconds.
        samples: a machine's series.
        samples_absolute: samples' t is Unix time.
        facts: facts of the trial in the content: factor-like name to text, e.g. threads: 16.
        told: other facts that the tool prints of itself and its load, e.g. its version; a factor
            where it names one (tare.imports.stated_factors).
        counts: operation to how often it was done, where the tool prints it per operation.
        notes: facts on the reading that a reader of the result must know.
        summary: it is the result of a trial, not only a series of one.
        named: fields in the content that a name could also give, e.g. the columns of a table.
        least: OPERATION.min to the least latency as printed, us; it serves to check the others.
        lines: metric to its line in the file, where it has one of its own.
        step_us: rounding of latencies, microseconds.
        columns: of a table, the columns that are no metrics and no part of its form.
        part: the part of the file, e.g. "row 3"; empty: all of it.
        tags: of histogram logs, the operations and kinds; logs of one trial may complete each
            other where they share none.
    """

    values: dict[str, float] = field(default_factory=dict)
    seconds: float | None = None
    started: float | None = None
    operations: int | None = None
    errors_by_kind: dict[str, int] = field(default_factory=dict)
    intervals: list[PrintedInterval] = field(default_factory=list)
    histograms: list[str] = field(default_factory=list)
    tick_ns: int = 1
    samples: list[SeriesValue] = field(default_factory=list)
    samples_absolute: bool = True
    facts: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    summary: bool = True
    named: dict[str, str] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    step_us: float = 1.0
    columns: tuple[str, ...] = ()
    part: str = ""
    tags: frozenset[str] = frozenset()

    def refuse_absurd(self) -> None:
        """Returns where its times can be those of a trial.

        Raises:
            UnreadableError: it lasted longer than a month, or in no year that has a name.
        """
        ends = [self.seconds or 0.0, *(one.t for one in self.intervals)]
        clock = [one.t for one in self.samples] or [0.0]
        ends.append(max(clock) - min(clock))
        if max(ends) > LONGEST_S:
            raise UnreadableError(f"it lasted {max(ends) / 86400:,.0f} days")
        times = [self.started or 0.0, *clock]
        if min(times) < 0 or max(times) > LATEST:
            raise UnreadableError("its times are in no year that has a name, or before 1970")
