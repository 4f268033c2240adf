"""Grids of exhibits as the report's tables: numbers formatted by their unit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.report import numbers
from tare.report.tables import Cell, Table

if TYPE_CHECKING:
    from tare.analysis.model import Exhibit, Grid

UNITLESS = ("", "count", "number")


def exhibit_tables(exhibit: Exhibit) -> list[Table]:
    """The exhibit's tables, each with a name of its own."""
    several = len(exhibit.grids) > 1
    return [
        _table(
            grid,
            grid.title or exhibit.title + (f", table {i}" if several else ""),
            f"{exhibit.name}-table-{i}",
        )
        for i, grid in enumerate(exhibit.grids, start=1)
    ]


def _table(grid: Grid, title: str, name: str) -> Table:
    units = {i: unit for i, unit in enumerate(grid.units) if unit not in UNITLESS}
    rows = [
        [_cell(value, unit) for value, unit in zip(row, grid.units, strict=True)]
        for row in grid.rows
    ]
    return Table(title, list(grid.columns), rows, list(grid.notes), name, units)


def _cell(value: str | float | None, unit: str) -> Cell:
    if isinstance(value, str):
        return Cell(value)
    if value is None:
        return Cell("", "number" if unit else "text")
    return Cell(number_text(value, unit), "number", value=value)


def number_text(value: float, unit: str) -> str:
    """Percentages to 0.01, as the papers print them; counts whole; others as quantities."""
    if not math.isfinite(value):
        return numbers.significant(value)
    if unit == "%":
        text = f"{value:.2f}"
        return ("0.00" if float(text) == 0 else text).replace("-", numbers.MINUS) + "%"
    if unit in ("count", ""):
        return f"{value:,.10g}".replace("-", numbers.MINUS)
    if unit == "number":
        return _four(value)
    return numbers.quantity(value, unit)


def _four(value: float) -> str:
    """Four significant digits; tiny and huge numbers as powers of ten."""
    size = abs(value)
    if size == 0:
        return "0"
    if 1e-3 <= size < 1e7:
        decimals = max(0, 3 - math.floor(math.log10(size)))
        return f"{value:,.{decimals}f}".replace("-", numbers.MINUS)
    digits, _, power = f"{value:.3e}".partition("e")
    return f"{digits} \u00d7 10^{int(power)}".replace("-", numbers.MINUS)
