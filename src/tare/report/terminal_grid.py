"""A grid of answers in the terminal: as many columns side by side as the width allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from tare.report.terminal_text import TONES, text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

    from tare.report.answer_grid import AnswerGrid, GridCell

_APART = 2
_NAMES = 3
"""Names get at most this part of the width."""


@dataclass(frozen=True)
class TerminalGrid:
    """The rows shown at first, their columns in several tables if one would be too wide."""

    grid: AnswerGrid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = self.grid.rows[: self.grid.leading or None]
        columns = self.grid.columns
        widest = max((len(name) for name, _ in rows), default=0)
        names = min(max(widest, len(self.grid.corner)), options.max_width // _NAMES)
        lines = [
            len(line) for _, cells in rows for one in cells for line in _cell(one).plain.split("\n")
        ]
        each = max(lines, default=1) + _APART
        side_by_side = max(1, (options.max_width - names - _APART) // each)
        for start in range(0, len(columns), side_by_side):
            part = slice(start, start + side_by_side)
            table = Table(box=None, padding=(0, _APART, 0, 0), pad_edge=False, header_style="dim")
            table.add_column(text(self.grid.corner), overflow="fold", max_width=names)
            for name in columns[part]:
                table.add_column(text(name), overflow="fold", min_width=each - _APART)
            for name, cells in rows:
                table.add_row(text(name), *map(_cell, cells[part]))
            yield table


def _cell(cell: GridCell | None) -> Text:
    if cell is None:
        return text("")
    return text(f"{cell.change} {cell.mark}", TONES[cell.tone]) + text(f"\n{cell.interval}", "dim")
