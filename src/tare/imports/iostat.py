"""iostat's text (-x, with -t for times) and JSON.

The first report is the mean since the machine started and is left out. No file shows that iostat
ran with -y; its first interval is then lost.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tare.imports import sadf
from tare.imports.file_content import FileReading, UnreadableError
from tare.imports.parsing import lines_of, number, whole
from tare.imports.probe_names import CPU, as_samples, checked_cpus, cpu_samples, disk_sums
from tare.imports.recognise import not_ours

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = re.compile(r"Linux \S+ \(.*?\)\s+\S+\s+\S+\s+\(([0-9]{1,6}) CPU\)")
_STAMPS = ("%m/%d/%Y %I:%M:%S %p", "%m/%d/%y %I:%M:%S %p", "%m/%d/%y %H:%M:%S",
           "%m/%d/%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S", "%d/%m/%y %H:%M:%S",
           "%Y-%m-%dT%H:%M:%S%z", "%d/%m/%Y %H:%M:%S")  # fmt: skip
NO_TIMES = "it has no times (iostat -t prints them); give --interval"


class _Report:
    """One report: the CPU's shares and a row per device."""

    def __init__(self) -> None:
        self.stamp: str | None = None
        self.cpu: dict[str, float] = {}
        self.disks: dict[str, dict[str, float]] = {}


def read(data: bytes, cpus: int | None, interval: float | None) -> list[FileReading]:
    """The series in a file.

    Args:
        cpus: of the machine, where the file does not say.
        interval: seconds between reports, where the file has no times.

    Raises:
        UnreadableError: it is not iostat's, or lacks the times or the number of CPUs.
    """
    lines = lines_of(data)
    if next((line for line in lines if line.strip()), "").lstrip().startswith("{"):
        reports, printed = _from_json("\n".join(lines))
    elif any(line.startswith(("avg-cpu:", "Device")) for line in lines):
        reports, printed = _from_text(lines)
    else:
        raise UnreadableError(not_ours("iostat", "\n".join(lines), "not iostat output"))
    return [_reading(reports, checked_cpus(printed or cpus, "give --cpus"), interval)]


def _reading(reports: Sequence[_Report], cpus: int, interval: float | None) -> FileReading:
    if len(reports) < 2:
        raise UnreadableError("one report, the mean since the machine started: no series")
    reading = FileReading(summary=False)
    times = _times([report.stamp for report in reports], reading)
    reading.samples_absolute = bool(times)
    if not times:
        if interval is None:
            raise UnreadableError(NO_TIMES)
        times = [place * interval for place in range(len(reports))]
    reading.notes.append("iostat's first report, the mean since the machine started, is left out")
    for t, report in list(zip(times, reports, strict=True))[1:]:
        reading.samples += list(cpu_samples(t, report.cpu, cpus))
        reading.samples += as_samples(t, disk_sums(report.disks))
    if not reading.samples:
        raise UnreadableError("no CPU and no whole disk in it")
    return reading


def _from_text(lines: Sequence[str]) -> tuple[list[_Report], int | None]:
    cpus: int | None = None
    reports: list[_Report] = []
    columns: list[str] = []
    stamp: str | None = None
    for line in (line.strip() for line in lines):
        head = _HEAD.match(line)
        cells = line.split()
        if head is not None:
            cpus = int(head[1])
        elif not cells:
            columns = []
        elif cells[0] in ("avg-cpu:", "Device", "Device:"):
            columns = cells
            if cells[0] == "avg-cpu:" or not reports or reports[-1].disks:
                reports.append(_Report())
                reports[-1].stamp, stamp = stamp, None
        elif columns and columns[0] == "avg-cpu:":
            reports[-1].cpu = _row(columns[1:], cells)
        elif columns:
            reports[-1].disks[cells[0]] = _row(columns[1:], cells[1:])
        else:
            stamp = line if any(_parsed([line], form) for form in _STAMPS) else None
    return reports, cpus


def _row(columns: Sequence[str], cells: Sequence[str]) -> dict[str, float]:
    if len(columns) != len(cells):
        raise UnreadableError(f"cut off or damaged: {' '.join(cells)[:60]!r}")
    return {
        name: number(cell.replace(",", "."), name)
        for name, cell in zip(columns, cells, strict=True)
    }


def _times(stamps: Sequence[str | None], reading: FileReading) -> list[float]:
    """Unix time of every report, all in the first form that fits them all; empty if none does.

    Clocks without a zone are read as UTC.
    """
    texts = [text for text in stamps if text is not None]
    if len(texts) < len(stamps):
        return []
    for form in _STAMPS:
        found = _parsed(texts, form)
        if found:
            if _parsed(texts, form.replace("%m/%d", "%d/%m")) not in ([], found):
                reading.notes.append(f"iostat's date {texts[0]} was read as month/day/year")
            return found
    return []


def _parsed(texts: Sequence[str], form: str) -> list[float]:
    """Unix times of texts in this form; empty where one has another."""
    if not all(text.isascii() for text in texts):  # strptime reads the digits of every script
        return []
    try:
        stamps = [datetime.strptime(text, form) for text in texts]
    except ValueError:
        return []
    return [(one if one.tzinfo else one.replace(tzinfo=UTC)).timestamp() for one in stamps]


def _from_json(text: str) -> tuple[list[_Report], int | None]:
    host = sadf.host_of(text)
    try:
        reports = [_json_report(entry) for entry in host["statistics"] if entry]
        name = "number-of-cpus"
        return reports, whole(host[name], name) if name in host else None
    except sadf.WRONG as error:
        raise UnreadableError(f"not iostat's JSON: {type(error).__name__} {error}") from None


def _json_report(entry: dict[str, Any]) -> _Report:
    report = _Report()
    if "timestamp" in entry:
        report.stamp = str(entry["timestamp"])
    report.cpu = sadf.numbers(entry.get("avg-cpu") or {}, CPU)
    report.disks = sadf.by_name(entry.get("disk"), "disk_device")
    return report
