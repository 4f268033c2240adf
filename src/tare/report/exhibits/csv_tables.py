"""The tables of exhibits as CSV files: numbers whole, units in the heads of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pyarrow as pa

from tare.report.exhibits.tables import UNITLESS
from tare.report.exports import csv
from tare.study.question import ExhibitKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tare.analysis.model import Analysis, Grid

DIRECTORY = "tables"
"""Directory in the run's; a table has its exhibit's name and a number: rankings-1-1.csv."""


def exhibit_files(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """(path below the run's directory, content) of every table of every exhibit."""
    for exhibit in analysis.exhibits:
        for place, grid in enumerate(exhibit.grids, start=1):
            yield f"{DIRECTORY}/{exhibit.name}-{place}.csv", csv(grid_table(grid))


def grid_table(grid: Grid) -> pa.Table:
    """The table: columns of numbers as such, all others as texts; an empty cell is null."""
    columns = {}
    for place, name in enumerate(_heads(grid)):
        cells = [row[place] for row in grid.rows]
        if any(isinstance(cell, str) for cell in cells):
            texts = [None if cell is None else str(cell) for cell in cells]
            columns[name] = pa.array(texts, pa.string())
        else:
            columns[name] = pa.array(cells, pa.float64())
    return pa.table(columns)


def _heads(grid: Grid) -> list[str]:
    """Names of the columns, each once; ends of intervals are named after their value."""
    heads: list[str] = []
    before = ""
    for name, unit in zip(grid.columns, grid.units, strict=True):
        if grid.columns.count(name) == 1:
            before = own = name
        else:
            own = f"{before}, {name}"
        head = own if unit in UNITLESS else f"{own} ({unit})"
        while head in heads:
            head += "'"
        heads.append(head)
    return heads


def remove_stale_tables(run: Path, current: set[str]) -> None:
    """Delete the tables of an earlier report, which would be wrong now.

    Args:
        run: the run's directory.
        current: paths below it that this report writes.
    """
    for kind in get_args(ExhibitKind):
        for path in (run / DIRECTORY).glob(f"{kind}-[0-9]*.csv"):
            if path.relative_to(run).as_posix() not in current:
                path.unlink(missing_ok=True)
