"""cassandra-stress's results: the `Results:` block and the rows per interval, 2.0 to 4.x.

Latencies are in milliseconds, printed to 0.1 ms; its -log hdrfile has them exactly (tool hlog).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tare.imports import properties
from tare.imports.file_content import FileReading, PrintedInterval, UnreadableError
from tare.imports.parsing import grouped, lines_of, microseconds, number, operation_name
from tare.imports.recognise import not_ours

if TYPE_CHECKING:
    from collections.abc import Sequence

TOTAL = "total"
STEP_US = 100.0
"""Rounding of latencies."""
COARSE = 0.05
"""Share of the median up to which the rounding is not mentioned."""

_RUNNING = re.compile(r"^Running (?:.* )?with ([0-9]{1,9}) thread(?:s|Count)\b")
_SETTING = re.compile(r"^\s*Thread Count: ([0-9]{1,9})\s*$")
_SETTINGS = {
    "consistency": re.compile(r"^\s*Consistency Level: ([A-Z_]{1,20})\s*$"),
    "type": re.compile(r"^\s*Type: ([a-z_]{1,20})\s*$"),
}
_LINE = re.compile(r"([A-Za-z][\w. ()-]*?) *: *([^\[]*?) *(?:\[(.*)\])? *")
_VALUE = re.compile(r"([0-9.,]+|NaN)\s*(ms|op/s)?")
_PART = re.compile(r"([^:,\[\]]+): ?([0-9.,]+|NaN)(?: ?(?:ms|op/s))?(?:, |,|$)")
_DURATION = re.compile(r"([0-9]{1,9}):([0-9]{2}):([0-9]{2})")
_KINDS = {
    "latency mean": "mean",
    "latency median": "p50",
    "latency 95th percentile": "p95",
    "latency 99th percentile": "p99",
    "latency 99.9th percentile": "p999",
    "latency max": "max",
}
_NEEDED = ("op rate", "latency mean", "latency median", "latency 99th percentile",
           "total errors", "total operation time")  # fmt: skip


def read(data: bytes) -> list[FileReading]:
    """The trials in a file: one, or one per number of threads (-rate auto).

    Raises:
        UnreadableError: it is not cassandra-stress's, is cut off, or reports a failure.
    """
    lines = lines_of(data)
    starts = [number for number, line in enumerate(lines) if line.strip() == "Results:"]
    if not starts:
        raise UnreadableError(
            not_ours("cassandra-stress", "\n".join(lines), "no Results: block: cut off, or not "
                     "cassandra-stress output")
        )  # fmt: skip
    words = {line.strip() for line in lines[starts[-1] :]}
    if "FAILURE" in words:
        raise UnreadableError("cassandra-stress says FAILURE: too many operations failed")
    if "END" not in words:
        raise UnreadableError("cut off: no END after the results")
    readings = []
    for begin, start in zip([0, *starts[:-1]], starts, strict=True):
        reading = _result(lines[start + 1 :], start + 2)
        reading.intervals = _intervals(lines[begin:start], reading)
        threads = _threads(lines[begin:start])
        if threads is not None:
            reading.facts["threads"] = threads
        _take_settings(reading, lines[:start])
        reading.part = f"with {threads} threads" if len(starts) > 1 else ""
        readings.append(reading)
    return readings


def _take_settings(reading: FileReading, lines: Sequence[str]) -> None:
    """The load's settings in the head; otherwise the operations show the type of load."""
    reading.told["tool"] = "cassandra-stress"
    for name, pattern in _SETTINGS.items():
        found = next((m[1] for line in lines if (m := pattern.match(line))), None)
        if found is not None and name == "consistency":
            reading.facts[name] = found
        elif found is not None:
            reading.told["load"] = found
    reading.told |= properties.of_settings(lines)
    if "load" not in reading.told and reading.counts:
        only = next(iter(reading.counts))
        reading.told["load"] = only if len(reading.counts) == 1 else "mixed"


def _threads(lines: Sequence[str]) -> str | None:
    """The threads in the line that announces the run, else in the settings."""
    for pattern in (_RUNNING, _SETTING):
        found = [m[1] for line in lines if (m := pattern.match(line))]
        if found and int(found[-1]) > 0:
            return found[-1]
    return None


def _result(lines: Sequence[str], first: int) -> FileReading:
    """One block, up to the first line outside it; `first` is the number of its first line."""
    rows: dict[str, tuple[str, str]] = {}
    places: dict[str, int] = {}
    for place, line in enumerate(lines, start=first):
        found = _LINE.fullmatch(line.strip())
        if found is None:
            break
        rows[found[1].strip().lower()] = found[2], found[3] or ""
        places[found[1].strip().lower()] = place
    if missing := [name for name in _NEEDED if name not in rows]:
        raise UnreadableError(f"cut off: the results have no {missing[0]!r}")
    rate = grouped(_first(rows["op rate"][0], "op rate")[0], "op rate")
    if rate <= 0:
        raise UnreadableError("op rate is 0: nothing was measured")
    reading = FileReading({"throughput": rate}, seconds=_seconds(rows["total operation time"][0]))
    reading.step_us = STEP_US
    for label, kind in _KINDS.items():
        if label in rows:
            _take_latency(reading, kind, label, *rows[label])
            reading.lines |= {
                name: places[label] for name in reading.values if name.endswith(f".{kind}")
            }
    _take_errors(reading, *rows["total errors"])
    for name, own in _parts(rows["op rate"][1]):
        if own != "NaN" and (rate_of := grouped(own, "op rate")):
            reading.counts[operation_name(name)] = rate_of * (reading.seconds or 1.0)
    median = reading.values["all.p50"]
    if COARSE * median < STEP_US / 2:
        reading.notes.append(
            "cassandra-stress prints latencies to 0.1 ms, which is much of what was measured; "
            "its -log hdrfile has them exactly"
        )
    return reading


def _first(text: str, what: str) -> tuple[str, str]:
    """The value over all operations, and its unit; old versions print none."""
    found = _VALUE.fullmatch(text)
    if found is None:
        raise UnreadableError(f"{what} is no number: {text[:40]!r}")
    return found[1], found[2] or ""


def _take_latency(reading: FileReading, kind: str, label: str, text: str, parts: str) -> None:
    value, unit = _first(text, label)
    if unit == "op/s":
        raise UnreadableError(f"{label} is in {unit}: of another version")
    reading.values[f"all.{kind}"] = microseconds(grouped(value, label), "ms")
    for name, own in _parts(parts):
        if own != "NaN":
            metric = f"{operation_name(name)}.{kind}"
            reading.values[metric] = microseconds(grouped(own, label), "ms")


def _take_errors(reading: FileReading, text: str, parts: str) -> None:
    total = grouped(_first(text, "total errors")[0], "total errors")
    reading.values["errors"] = total
    kinds = {operation_name(name): int(grouped(own, "total errors")) for name, own in _parts(parts)}
    reading.errors_by_kind = {f"{name} failed": n for name, n in kinds.items() if n}
    if total and not reading.errors_by_kind:
        reading.errors_by_kind = {"failed": int(total)}


def _parts(text: str) -> list[tuple[str, str]]:
    """`READ: 60.1 ms, WRITE: 1,038.6 ms` as pairs; thousands have commas, too."""
    return [(m[1].strip(), m[2].rstrip(",")) for m in _PART.finditer(text) if m[1].strip()]


def _seconds(text: str) -> float:
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise UnreadableError(f"total operation time is no time: {text[:40]!r}")
    return int(found[1]) * 3600.0 + int(found[2]) * 60 + int(found[3])


def _intervals(lines: Sequence[str], reading: FileReading) -> list[PrintedInterval]:
    """The rows of all operations; the reading gets its exact length and number from them."""
    columns: dict[str, int] = {}
    found: list[PrintedInterval] = []
    before = 0.0
    for line in lines:
        cells = [cell.strip() for cell in line.split(",")]
        if "total ops" in (names := _columns(cells)):
            columns = {name: place for place, name in enumerate(names)}
            found, before = [], 0.0  # of the last table: rows before it are its warm-up
        elif columns and len(cells) == len(columns) and _is_total(cells[0], columns):
            row = {name: cells[place] for name, place in columns.items()}
            t = number(row.get("time", "nan"), "a row's time")
            if t - before < 0.2:  # the rest after the last full interval
                reading.seconds = t
            else:
                rate = number(row.get("op/s", "nan"), "a row's op/s")
                p99 = microseconds(number(row.get(".99", "nan"), "a row's .99"), "ms")
                found.append(PrintedInterval(t, rate, p99))
            before = t
            reading.seconds = t
            reading.operations = round(number(row["total ops"], "a row's total ops"))
    return found


def _columns(cells: list[str]) -> list[str]:
    """The names in a head of columns; some versions print no comma after `type`."""
    first = cells[0].split(maxsplit=1)
    return [*first, *cells[1:]] if first[:1] == ["type"] else cells


def _is_total(first: str, columns: dict[str, int]) -> bool:
    """A row of all operations; in 2.0 there is no other."""
    return first == TOTAL if "type" in columns else first.isascii() and first.isdigit()
