"""`tare compare` of two files of `tare weigh --json`: what ways or parts cost here and there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError
from rich.table import Table

from tare.analysis.price_changes import compare_parts, compare_prices
from tare.analysis.tariff import NATIVE
from tare.cli.console import say, say_json, table_console
from tare.cli.prices_text import difference
from tare.cli.weigh_parts import digits, scale
from tare.errors import UsageError
from tare.records.part_prices import PartWeighing
from tare.records.prices import Weighing

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.price_changes import (
        PartChange,
        PartComparison,
        PriceChange,
        PriceComparison,
    )

_CHANGE = ("A", "B", "B less A", "B is", "A, %", "B, %", "B less A, points", "in percent B is")
_LEFT = ("operation", "time", "on", "way", "CPU us", "B is", "in percent B is")
LARGEST = 2**20
"""Bytes; a weighing has some 20,000."""


def prices_in(path: Path) -> Weighing | PartWeighing | None:
    """The content of a file of prices; None if it holds no prices."""
    if not path.is_file() or path.stat().st_size > LARGEST:
        return None
    text = path.read_bytes()
    for kind in (Weighing, PartWeighing):
        try:
            return kind.model_validate_json(text)
        except ValidationError:
            continue
    return None


def show(a: Weighing | PartWeighing, b: Weighing | PartWeighing, *, json: bool) -> None:
    """Print the comparison.

    Raises:
        UsageError: they are prices of different things.
    """
    if _kind(a) != _kind(b):
        raise UsageError(
            f"prices of {_kind(a)} and of {_kind(b)} are not compared",
            why="A and B are of different operations",
            remedy="give two files of the same --what",
        )
    found: PriceComparison | PartComparison
    if isinstance(a, Weighing) and isinstance(b, Weighing):
        found = compare_prices(a, b)
        shown = table(found)
    elif isinstance(a, PartWeighing) and isinstance(b, PartWeighing):
        found = compare_parts(a, b)
        shown = part_table(found)
    if json:
        say_json(found.model_dump_json(indent=1))
        return
    table_console().print(shown)
    for line in [*(f"differs: {one}" for one in found.differing), *_only(found)]:
        say(line)


def _kind(found: Weighing | PartWeighing) -> str:
    return f"a {found.operation}" if isinstance(found, Weighing) else "a platform's parts"


def part_table(found: PartComparison) -> Table:
    """One row per operation and platform; differences with their 95% intervals."""
    shown = _table("operation", "time", "on")
    for one in found.changes:
        over = "" if one.what == "cost" else f" over {NATIVE}"
        unit_ns, unit = scale(max(abs(one.a), abs(one.b)))
        places = digits(max(abs(one.a), abs(one.b)) / unit_ns)
        shown.add_row(
            one.title,
            "CPU" if one.clock == "cpu" else "passed",
            f"{one.platform}{over}",
            *_cells(one, places, unit_ns, f" {unit}"),
        )
    return shown


def _only(found: PriceComparison | PartComparison) -> list[str]:
    return [f"in one of them only: {', '.join(found.only)}"] if found.only else []


def table(found: PriceComparison) -> Table:
    """One row per way; differences with their 95% intervals."""
    shown = _table("way", "in flight", "CPU us")
    for one in found.changes:
        shown.add_row(
            f"{one.way}, TLS" if one.tls else one.way,
            str(one.in_flight),
            f"over {one.over}" if one.over else "in all",
            *_cells(one, 2),
        )
    return shown


def _table(*of: str) -> Table:
    """An empty table with columns for what is compared and for its `_cells`."""
    shown = Table(box=None, pad_edge=False)
    for heading in (*of, *_CHANGE):
        shown.add_column(heading, justify="left" if heading in _LEFT else "right")
    return shown


def _cells(
    change: PriceChange | PartChange, places: int, unit: float = 1, name: str = ""
) -> list[str]:
    """Both sides and their difference, divided by `unit`; then both sides and the difference of
    the percentage added, empty if there is none."""
    sides = [f"{value / unit:.{places}f}{name}" for value in (change.a, change.b)]
    cells = [*sides, difference(change.difference, *change.ci, places, unit), change.verdict]
    share = change.percent
    if share is None:
        return [*cells, *[""] * 4]
    sides = [f"{share.a:+.1f}", f"{share.b:+.1f}"]
    return [*cells, *sides, difference(share.difference, *share.ci, 1), share.verdict]
