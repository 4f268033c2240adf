"""go-ycsb's results: lines such as `READ   - Takes(s): 10.0, Count: 9892, OPS: 992.2, ...`.

It prints sums since the start every 10 s; the last block, after "Run finished", is the result.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tare.imports import properties
from tare.imports.file_content import FileReading, PrintedInterval, UnreadableError
from tare.imports.parsing import number, operation_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TOTAL = "TOTAL"
ERROR = "_ERROR"
_LINE = re.compile(r"([A-Z_]+) +- (Takes\(s\): .*)")
_END = re.compile(r"(?:Run|Load) finished, takes ")
_PROPERTY = re.compile(r'"threadcount"="([0-9]{1,9})"')
_BINDING = re.compile(r'"(cassandra|mongodb)\.[a-z.]+"="')
_KINDS = {
    "Avg": "mean",
    "50th": "p50",
    "95th": "p95",
    "99th": "p99",
    "99.9th": "p999",
    "Max": "max",
}
_NEEDED = ("Takes(s)", "Count", "OPS", "Avg(us)", "Max(us)", "99th(us)")


def is_line(line: str) -> bool:
    """Whether the line is one of go-ycsb's results."""
    return _LINE.fullmatch(line.strip()) is not None


def read(lines: Sequence[str]) -> FileReading:
    """The trial in these lines.

    Raises:
        UnreadableError: the run did not finish, or a line is torn.
    """
    end = [number for number, line in enumerate(lines) if _END.match(line)]
    if not end:
        raise UnreadableError("cut off: go-ycsb's output without `Run finished`")
    if len(end) > 1:
        raise UnreadableError("two results: the output of more than one run")
    final = _rows(lines[end[0] :])
    total = final.get(TOTAL)
    if total is None:
        raise UnreadableError("cut off, or an old go-ycsb: no TOTAL line after `Run finished`")
    reading = FileReading({"throughput": total["OPS"]}, seconds=total["Takes(s)"])
    reading.operations = round(total["Count"])
    places = {m[1]: at for at, line in enumerate(lines, 1) if (m := _LINE.fullmatch(line.strip()))}
    for name, row in final.items():
        if name.endswith(ERROR):
            reading.errors_by_kind[operation_name(name)] = round(row["Count"])
            continue
        operation = "all" if name == TOTAL else operation_name(name)
        if name != TOTAL and row["Count"]:
            reading.counts[operation] = row["Count"]
        for printed, kind in _KINDS.items():
            if f"{printed}(us)" in row:
                reading.values[f"{operation}.{kind}"] = row[f"{printed}(us)"]
                reading.lines[f"{operation}.{kind}"] = places[name]
        if "Min(us)" in row:
            reading.least[f"{operation}.min"] = row["Min(us)"]
    reading.values["errors"] = float(sum(reading.errors_by_kind.values()))
    reading.intervals = list(_intervals(lines[: end[0]]))
    _take_properties(reading, lines)
    return reading


def _take_properties(reading: FileReading, lines: Iterable[str]) -> None:
    """Settings that go-ycsb prints before it starts."""
    reading.told["tool"] = "go-ycsb"
    for line in lines:
        if (found := _PROPERTY.fullmatch(line.strip())) is not None:
            reading.facts["threads"] = found[1]
        if (binding := _BINDING.match(line.strip())) is not None:
            reading.told["database binding"] = binding[1]
    reading.told |= properties.of_quoted(lines)


def _rows(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    rows = {}
    for line in lines:
        if (found := _LINE.fullmatch(line.strip())) is not None:
            rows[found[1]] = _row(found[2])
    return rows


def _row(text: str) -> dict[str, float]:
    row = {}
    for part in text.split(","):
        name, _, value = part.strip().partition(": ")
        row[name] = number(value, name)
    if missing := [name for name in _NEEDED if name not in row]:
        raise UnreadableError(f"cut off or damaged: a line without {', '.join(missing)}")
    return row


def _intervals(lines: Iterable[str]) -> Iterable[PrintedInterval]:
    """Rates between the lines, from the differences of the sums."""
    t, count = 0.0, 0.0
    for line in lines:
        found = _LINE.fullmatch(line.strip())
        if found is None or found[1] != TOTAL:
            continue
        row = _row(found[2])
        if row["Takes(s)"] > t and row["Count"] >= count:
            yield PrintedInterval(row["Takes(s)"], (row["Count"] - count) / (row["Takes(s)"] - t))
            t, count = row["Takes(s)"], row["Count"]
