"""The end of `tare run`: the answer in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.panel import Panel
from rich.text import Text

from tare.report import dependence, ending, identical, left_out, terminal_table, words
from tare.report.answer_grid import MARKS, answer_grids, summary
from tare.report.escaping import plain
from tare.report.methods import under_load
from tare.report.overview import check_summary
from tare.report.terminal_grid import TerminalGrid
from tare.report.terminal_text import text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tare.analysis.model import Analysis

_KEY = ", ".join(f"{mark} {verdict}" for verdict, mark in MARKS.items())
_STATUS = {"warning": "yellow", "invalid": "bold red"}


def render_summary(analysis: Analysis) -> RenderableType:
    """The answers in tables and the text that these lack, warnings, failed checks.

    Only the note that a result is void stands before its answer.
    """
    parts: list[RenderableType] = [text(analysis.question or analysis.study, "bold")]
    if load := under_load(analysis):
        parts.append(text(load, "dim"))
    parts += _alerts(words.alerts(analysis), "invalid")
    grids = answer_grids(analysis)
    if grids:
        parts.append(Text())
        parts += [text(one) for one in summary(analysis)]
        for grid in grids:
            parts += [Text(), text(grid.title, "bold"), TerminalGrid(grid)]
        left = sum(len(grid.rows) - grid.leading for grid in grids if grid.leading)
        if left:
            parts += [Text(), text(f"{left:,} more rows, level by level, are in report.html.")]
        parts.append(text(_KEY, "dim"))
    else:
        if read_first := terminal_table.apart(analysis):
            parts += [Text(), *(text(one, "bold") for one in read_first)]
        parts += terminal_table.tables(analysis)
        parts += terminal_table.chains(analysis)
        more = terminal_table.additions(analysis)
        if more:
            parts += [Text(), *(text(one) for one in more)]
    parts += _alerts(words.alerts(analysis), "warning")
    noise = [*identical.sentences(analysis), *ending.looks(analysis)]
    if noise:
        parts += [Text(), *(text(one) for one in noise)]
    first, _ = dependence.interactions(analysis)
    further = [*first, *dependence.noisier(analysis)]
    if further:
        parts += [Text(), *(text(one) for one in further)]
    parts += [Text(), text(check_summary(analysis), "bold")]
    told = {one.check for one in words.alerts(analysis)}
    for check in analysis.checks:
        if check.status != "ok" and check.name not in told:
            line = text(f"  {check.status}: ", _STATUS[check.status])
            parts.append(line + text(f"{check.name}: {check.summary}"))
    missing = left_out.sentences(analysis)
    if missing:
        parts += [Text(), text(f"{left_out.TITLE}. {missing[0]}", "bold")]
        parts += [text(f"  {one}") for one in missing[1:]]
    said = {one.remedy for one in words.alerts(analysis)}
    more = [one for one in ending.further(analysis) if one not in said]
    if more:
        parts += [Text(), *(text(one, "bold") for one in more)]
    return Group(*parts)


def _alerts(alerts: list[words.Alert], level: str) -> list[RenderableType]:
    colour, name = ("red", "not valid") if level == "invalid" else ("yellow", "warning")
    return [
        Panel(
            text(
                "\n".join(
                    filter(None, (alert.headline, *map(plain, alert.details), plain(alert.remedy)))
                )
            ),
            title=text(name, f"bold {colour}"),
            border_style=colour,
            title_align="left",
        )
        for alert in alerts
        if alert.level == level
    ]
