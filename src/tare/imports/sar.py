"""sar's text (-u, -d, -n DEV, -w, -q, -A) and sadf's JSON, of sysstat 10 to 12.

sar prints times of day in the machine's own zone, and the date once; they are read as UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from tare.imports import sadf
from tare.imports.file_content import FileReading, SeriesValue, UnreadableError
from tare.imports.parsing import lines_of, number
from tare.imports.probe_names import (
    SYSTEM,
    as_samples,
    checked_cpus,
    cpu_samples,
    disk_sums,
    network_sums,
)
from tare.imports.recognise import not_ours

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Row = dict[str, float]

_HEAD = re.compile(r"Linux \S+ \(.*?\)\s+(\S+)\s+\S+\s+\(([0-9]{1,6}) CPU\)")
_DATE = re.compile(r"[0-9]{1,4}([/.-][0-9]{1,4}){2}")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?: ([AP]M))?\s+(.*)")
KEYS = ("CPU", "DEV", "IFACE", "INTR")
"""First columns that name the subject of a row; other tables have one row per time."""
DAY_S = 86400.0


def read(data: bytes) -> list[FileReading]:
    """The series in a file.

    Raises:
        UnreadableError: it is not sar's, or holds no interval.
    """
    lines = lines_of(data)
    if next((line for line in lines if line.strip()), "").lstrip().startswith("{"):
        return [sadf.read("\n".join(lines))]
    head = next((m for line in lines[:5] if (m := _HEAD.match(line.strip()))), None)
    if head is None:
        missing = "no line `Linux ... (n CPU)` at the top: cut off, or not sar's text"
        raise UnreadableError(not_ours("sar", "\n".join(lines), missing))
    if any(line.startswith("avg-cpu:") for line in lines):
        raise UnreadableError("this looks like iostat output; use tare import iostat")
    reading = FileReading(summary=False)
    day = _date(head[1], reading)
    tables = _tables(lines, day)
    cpus = checked_cpus(int(head[2]), "its first line should")
    for (t, key), rows in tables.items():
        reading.samples += _samples(t, key, rows, cpus)
    if not reading.samples:
        raise UnreadableError("no interval of CPU (-u), disks (-d) or network (-n DEV)")
    return [reading]


def _samples(t: float, key: str, rows: Mapping[str, Row], cpus: int) -> Iterable[SeriesValue]:
    if key == "CPU":
        return list(cpu_samples(t, rows["all"], cpus)) if _is_usage(rows) else []
    if key == "DEV":
        return as_samples(t, disk_sums(rows))
    if key == "IFACE":
        return as_samples(t, network_sums(rows))
    if key == "INTR":
        whole = rows.get("sum", {})
        return [SeriesValue(t, "intr_per_s", v) for n, v in whole.items() if n in ("all", "intr/s")]
    row = rows.get("", {})
    named = {SYSTEM[n]: v for name, v in row.items() if (n := name.removesuffix("/s")) in SYSTEM}
    return as_samples(t, named)


def _is_usage(rows: Mapping[str, Row]) -> bool:
    return "all" in rows and "%idle" in rows["all"]


def _tables(lines: Iterable[str], day: date) -> dict[tuple[float, str], dict[str, Row]]:
    """(time, first column) to row name to column to value, in the order of the file."""
    tables: dict[tuple[float, str], dict[str, Row]] = {}
    columns: list[str] = []
    days: dict[tuple[str, ...], _Days] = {}  # tables may follow each other, or alternate
    for line in lines:
        found = _TIME.match(line.strip())
        if found is None:
            columns = [] if not line.strip() else columns
            continue
        cells = found[5].split()
        if not columns or _is_header(cells):
            columns = cells
            continue
        t = days.setdefault(tuple(columns), _Days(day)).unix(found)
        keyed = columns[0] in KEYS
        key = columns[0] if keyed else ""
        if len(cells) != len(columns):
            if "RESTART" in cells:
                columns = []
                continue
            raise UnreadableError(f"cut off or damaged: {line.strip()[:60]!r}")
        names, values = (columns[1:], cells[1:]) if keyed else (columns, cells)
        row = {
            name: number(value.replace(",", "."), name)
            for name, value in zip(names, values, strict=True)
            if _wanted(name)
        }
        rows = tables.setdefault((t, key), {})
        rows.setdefault(cells[0] if keyed else "", {}).update(row)
    return tables


def _wanted(name: str) -> bool:
    return name.startswith("%") or name.endswith("/s") or name in ("all", *SYSTEM)


def _is_header(cells: list[str]) -> bool:
    return cells[0] in KEYS or not any(cell[0].isdigit() for cell in cells)


class _Days:
    """The dates of one table's times of day, which pass midnight."""

    def __init__(self, day: date) -> None:
        self._midnight = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
        self._last = -1.0

    def unix(self, found: re.Match[str]) -> float:
        """Unix time of the table's next line, its clock read as UTC."""
        hour, minute, second = int(found[1]), int(found[2]), int(found[3])
        if found[4]:
            hour = hour % 12 + (12 if found[4] == "PM" else 0)
        if hour > 23 or minute > 59 or second > 60:
            raise UnreadableError(f"no time of day: {found[0][:12]!r}")
        clock = hour * 3600.0 + minute * 60 + second
        if clock < self._last:
            self._midnight += DAY_S
        self._last = clock
        return self._midnight + clock


def _date(text: str, reading: FileReading) -> date:
    """11/21/26, 11/21/2026 or 2026-11-21, in the form of sar's locale."""
    try:
        if not _DATE.fullmatch(text):
            raise ValueError(text)
        numbers = [int(part) for part in re.split(r"[/.-]", text)]
        if numbers[0] > 31:
            return date(*numbers)
        month, day, year = numbers
        if month > 12 or "." in text:
            month, day = day, month
        elif day <= 12 and month != day:
            reading.notes.append(f"sar's date {text} was read as month/day/year")
        return date(year + 2000 if year < 100 else year, month, day)
    except ValueError:
        raise UnreadableError(f"no date in its first line: {text[:20]!r}") from None
