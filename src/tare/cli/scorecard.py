"""A scorecard in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from tare.knowledge.replication.scorecard_text import COLUMNS, cells, groups, heading, remarks
from tare.report.escaping import plain

if TYPE_CHECKING:
    from tare.cli.console import Terminal
    from tare.knowledge.replication.model import Scorecard

_WHOLE = ("ours", "verdict")
"""Columns whose cells are not broken into lines."""
_STYLES = {"agrees": "bold green", "disagrees": "bold red", "undecided": "bold yellow"}


def show(card: Scorecard, console: Terminal) -> None:
    """The scorecard for people."""
    counts, *rest = heading(card)
    console.print(_text(counts, "bold"))
    for line in rest:
        console.print(_text(line))
    for group, rows in groups(card).items():
        table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
        table.title = _text(group, "bold")
        for column in COLUMNS:
            table.add_column(column, overflow="fold", no_wrap=column in _WHOLE)
        for row in rows:
            style = _STYLES.get(row.verdict, "dim")
            texts = cells(card, row)
            table.add_row(*(_text(text, style if text == row.verdict else "") for text in texts))
        console.print()
        console.print(table)
    console.print()
    for line in remarks(card):
        console.print(_text(line, "dim"))


def _text(content: str, style: str = "") -> Text:
    """Text without markup or control characters."""
    return Text(plain(content), style)
