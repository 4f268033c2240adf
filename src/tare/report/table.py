"""A table as plain rows: the content of a cell, its display and its sort key."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from urllib.parse import quote


@dataclass(frozen=True)
class Cell:
    """One cell: its text, and how it is shown (text, number, condition, verdict, flag, files,
    trace, others); `value` is what sorting goes by, in the column's unit."""

    text: str
    kind: str = "text"
    css: str = ""
    value: float | None = None
    files: tuple[str, ...] = ()
    """Paths inside the run's directory, which are linked."""
    sources: tuple[str, ...] = ()
    """Files of elsewhere, which are only named."""
    more: tuple[str, ...] = ()
    """Lines that the cell opens to."""

    @property
    def sort_key(self) -> str:
        """The value as the page carries it; empty: sort by the text."""
        known = self.value is not None and math.isfinite(self.value)
        return f"{self.value:.6g}" if known else ""

    @property
    def links(self) -> list[tuple[str, str]]:
        """(target, name) of each file; a target is a path inside the run's directory."""
        inside = [path for path in self.files if not {"", ".", ".."} & set(path.split("/"))]
        return [("./" + quote(path, safe="/"), path.rpartition("/")[2]) for path in inside]


@dataclass(frozen=True)
class RowKey:
    """The subject of a row, by which the page filters and finds it."""

    condition: str = ""
    effect: int | None = None
    trial: str = ""


@dataclass(frozen=True)
class Table:
    """A table; the first column names the row."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    notes: list[str]
    name: str = ""
    units: dict[int, str] = field(default_factory=dict)
    """Column to the unit of its cells' values."""
    keys: list[RowKey] = field(default_factory=list)
    """Per row; empty: rows have no subject to filter by."""

    @property
    def numeric(self) -> list[bool]:
        """Per column, whether it holds numbers, which are aligned to the right."""
        return [any(row[i].kind == "number" for row in self.rows) for i in range(len(self.columns))]
