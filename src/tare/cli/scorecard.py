"""A scorecard in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from tare.knowledge.replication.scorecard_text import COLUMNS, cells, groups, heading, remarks
from tare.report.terminal_text import text

if TYPE_CHECKING:
    from tare.cli.console import Terminal
    from tare.knowledge.replication.model import Scorecard

_WHOLE = ("ours", "verdict")
"""Columns whose cells are not broken into lines."""
_STYLES = {"agrees": "bold green", "disagrees": "bold red", "undecided": "bold yellow"}


def show(card: Scorecard, console: Terminal) -> None:
    """The scorecard for people."""
    counts, *rest = heading(card)
    console.print(text(counts, "bold"))
    for line in rest:
        console.print(text(line))
    for group, rows in groups(card).items():
        table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
        table.title = text(group, "bold")
        for column in COLUMNS:
            table.add_column(column, overflow="fold", no_wrap=column in _WHOLE)
        for row in rows:
            style = _STYLES.get(row.verdict, "dim")
            texts = cells(card, row)
            table.add_row(*(text(one, style if one == row.verdict else "") for one in texts))
        console.print()
        console.print(table)
    console.print()
    for line in remarks(card):
        console.print(text(line, "dim"))
