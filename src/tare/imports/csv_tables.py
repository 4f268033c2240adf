"""CSV tables of any origin: one row per trial, or one row per interval.

Columns are factors, repetition, block, round, and metrics under Tare's names. A column may name
its unit, `read.p99 (ms)`; without one, latencies are in microseconds. A column `t` (seconds since
the trial's start) makes the rows intervals.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from typing import TYPE_CHECKING

from tare.imports.file_content import FileReading, PrintedInterval, UnreadableError
from tare.imports.parsing import microseconds, number, text_of
from tare.imports.recognise import looks_like
from tare.study.template import PLACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TIME = "t"
LENGTH = "seconds"
OPERATIONS = "operations"
ERRORS = "errors"
_UNIT = re.compile(r"(.+?)\s*[(\[](ns|us|µs|ms|s)[)\]]")
_LATENCY = re.compile(r".+\.(mean|p50|p95|p99|p999|max)")
_PERCENTILE = re.compile(r".+\.(p50|p95|p99|p999|max)")
_METRIC = re.compile(r"throughput|errors|[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
MOST_ROWS = 2_000_000

Row = dict[str, str]


def read(data: bytes) -> list[FileReading]:
    """The trials in a table. The study decides which columns are factors.

    Raises:
        UnreadableError: it is no table with a metric in it, or a row is torn.
    """
    text = text_of(data)
    try:
        table = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except csv.Error as error:
        raise UnreadableError(f"damaged CSV: {error}") from None
    header = [name.strip() for name in table[0]]
    if len(set(header)) != len(header) or not all(header):
        raise UnreadableError("columns without a name, or two of one name")
    metrics = [name for name in header if _METRIC.fullmatch(_name_and_unit(name)[0])]
    if not metrics:
        found = looks_like(text)
        other = f"; this looks like {found[1]}" if found and found[0] not in ("", "csv") else ""
        raise UnreadableError(
            f"no column is a metric (throughput, read.mean, ...): {', '.join(header)[:80]}{other}"
        )
    if len(table) < 2:
        raise UnreadableError("no row below the head")
    if len(table) > MOST_ROWS:
        raise UnreadableError(f"more than {MOST_ROWS:,} rows")
    twice = [
        name for name, n in Counter(_name_and_unit(one)[0] for one in metrics).items() if n > 1
    ]
    if twice:
        raise UnreadableError(f"two columns are {twice[0]}: only one of the two could count")
    others = tuple(name for name in header if name not in (*metrics, TIME, LENGTH, OPERATIONS))
    rows = [_cells(header, row, place) for place, row in enumerate(table[1:], start=2)]
    if TIME in header:
        readings = _interval_trials(rows, metrics)
    else:
        readings = [_trial(row, metrics, place) for place, row in enumerate(rows, start=2)]
    for reading in readings:
        reading.columns = others
    return readings


def _cells(header: Sequence[str], row: Sequence[str], place: int) -> Row:
    if len(row) != len(header):
        raise UnreadableError(f"row {place} has {len(row)} cells, not {len(header)}: cut off?")
    return {name: cell.strip() for name, cell in zip(header, row, strict=True)}


def _name_and_unit(column: str) -> tuple[str, str]:
    """A metric's name and the unit that the column gives, if any."""
    found = _UNIT.fullmatch(column)
    if found is None:
        return column.lower(), ""
    return found[1].lower(), found[2].replace("µ", "u")


def _value(column: str, cell: str, what: str) -> tuple[str, float]:
    name, unit = _name_and_unit(column)
    value = number(cell, f"{what}, {column}")
    if unit and not _LATENCY.fullmatch(name):
        raise UnreadableError(f"{column}: only latencies have a unit of their own")
    return name, microseconds(value, unit or "us")


def _step(column: str, cell: str) -> float:
    """Microseconds of the last digit that a cell gives."""
    decimals = len(cell.strip().partition(".")[2])
    return microseconds(10.0**-decimals, _name_and_unit(column)[1] or "us")


def _trial(row: Row, metrics: Iterable[str], place: int) -> FileReading:
    reading = FileReading(part=f"row {place}")
    for column in metrics:
        if row[column]:
            name, value = _value(column, row[column], f"row {place}")
            reading.values[name] = value
            reading.step_us = max(reading.step_us, _step(column, row[column]))
    if not reading.values:
        raise UnreadableError(f"row {place} has no metric")
    _take_rest(reading, row, metrics)
    return reading


def _take_rest(reading: FileReading, row: Row, metrics: Iterable[str]) -> None:
    rest = {name: cell for name, cell in row.items() if name not in metrics and name != TIME}
    if rest.get(LENGTH):
        reading.seconds = number(rest.pop(LENGTH), LENGTH)
    if rest.get(OPERATIONS):
        reading.operations = int(number(rest.pop(OPERATIONS), OPERATIONS))
    if reading.values.get(ERRORS):
        reading.errors_by_kind = {"failed": int(reading.values[ERRORS])}
    reading.named = {name: rest[name] for name in PLACES if rest.get(name)}
    reading.facts = {name: cell for name, cell in rest.items() if cell and name not in PLACES}


def _interval_trials(rows: Sequence[Row], metrics: Sequence[str]) -> list[FileReading]:
    """Rows that agree in all but time and metrics are one trial."""
    groups: dict[tuple[tuple[str, str], ...], list[Row]] = {}
    for row in rows:
        key = tuple((n, c) for n, c in row.items() if n not in metrics and n != TIME)
        groups.setdefault(key, []).append(row)
    readings = []
    for place, (key, own) in enumerate(groups.items(), start=1):
        reading = FileReading(part=f"trial {place}" if len(groups) > 1 else "")
        _add_intervals(reading, own, metrics)
        _take_rest(reading, dict(key), [])
        readings.append(reading)
    return readings


def _add_intervals(reading: FileReading, rows: Sequence[Row], metrics: Sequence[str]) -> None:
    columns: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        t = number(row[TIME], TIME)
        values = dict(_value(c, row[c], f"t = {row[TIME]}") for c in metrics if row[c])
        for name, value in values.items():
            columns.setdefault(name, []).append((t, value))
        if "throughput" in values:
            reading.intervals.append(
                PrintedInterval(t, values["throughput"], values.get("all.p99"))
            )
    reading.intervals.sort(key=lambda one: one.t)
    reading.seconds = max(number(row[TIME], TIME) for row in rows)
    reading.values = _means(columns, rows, reading)
    if not reading.values and not reading.intervals:
        raise UnreadableError("a trial without any metric")


def _means(
    columns: Mapping[str, list[tuple[float, float]]], rows: Sequence[Row], reading: FileReading
) -> dict[str, float]:
    """Means over intervals; percentiles of a whole do not follow from its parts."""
    rates = dict(columns.get("throughput", []))
    values: dict[str, float] = {}
    left_out = []
    for name, series in columns.items():
        if _PERCENTILE.fullmatch(name):
            left_out.append(name)
        elif name == ERRORS:
            values[name] = sum(value for _, value in series)
        elif _LATENCY.fullmatch(name) and sum(rates.get(t, 0.0) for t, _ in series):
            weights = [rates.get(t, 0.0) for t, _ in series]
            total = sum(w * v for w, (_, v) in zip(weights, series, strict=True))
            values[name] = total / sum(weights)
        else:
            values[name] = sum(value for _, value in series) / len(series)
    if left_out:
        reading.notes.append(
            f"{', '.join(left_out)}: per interval only, for a percentile of the whole does not "
            "follow from those of its parts"
        )
    return values
