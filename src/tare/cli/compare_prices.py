"""`tare compare` of two files of `tare weigh --json`: what the ways cost here and there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError
from rich.table import Table

from tare.analysis.price_changes import compare_prices
from tare.analysis.prices import NATIVE
from tare.cli.console import say, say_json, table_console
from tare.errors import UsageError
from tare.records.prices import Weighing

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.price_changes import PriceChange, PriceComparison, ShareChange

LARGEST = 2**20
"""Bytes; a weighing has some 20,000."""


def prices_in(path: Path) -> Weighing | None:
    """What a file of prices holds; None: it is none."""
    if not path.is_file() or path.stat().st_size > LARGEST:
        return None
    try:
        return Weighing.model_validate_json(path.read_bytes())
    except ValidationError:
        return None


def show(a: Weighing, b: Weighing, *, json: bool) -> None:
    """Print the comparison.

    Raises:
        UsageError: they are prices of different things.
    """
    if a.operation != b.operation:
        raise UsageError(
            f"prices of a {a.operation} and of a {b.operation} are not compared",
            why="A and B are of different operations",
            remedy="give two files of the same --what",
        )
    found = compare_prices(a, b)
    if json:
        say_json(found.model_dump_json(indent=1))
        return
    table_console().print(table(found))
    for line in [*(f"differs: {one}" for one in found.differing), *_only(found)]:
        say(line)


def _only(found: PriceComparison) -> list[str]:
    return [f"in one of them only: {', '.join(found.only)}"] if found.only else []


def table(found: PriceComparison) -> Table:
    """A way per row; the differences with their 95% intervals."""
    shown = Table(box=None, pad_edge=False)
    for heading in ("way", "in flight", "CPU us", "A", "B", "B less A", "B is", "A, %", "B, %",
                    "B less A, points", "in percent B is"):  # fmt: skip
        left = heading in ("way", "CPU us", "B is", "in percent B is")
        shown.add_column(heading, justify="left" if left else "right")
    for one in found.changes:
        shown.add_row(
            f"{one.way}, TLS" if one.tls else one.way,
            str(one.in_flight),
            "in all" if one.what == "demand" else f"over {NATIVE}",
            f"{one.a:.2f}",
            f"{one.b:.2f}",
            _difference(one, 2),
            one.verdict,
            *_shares(one.percent),
        )
    return shown


def _shares(change: ShareChange | None) -> list[str]:
    """Of what is added to native's; four empty cells where there is none."""
    if change is None:
        return [""] * 4
    return [f"{change.a:+.1f}", f"{change.b:+.1f}", _difference(change, 1), change.verdict]


def _difference(change: PriceChange | ShareChange, places: int) -> str:
    difference, low, high = (f"{value:+.{places}f}" for value in (change.difference, *change.ci))
    return f"{difference} [{low}, {high}]"
