"""The end of `tare run`: the answer in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tare.report import dependence, ending, identical, left_out, numbers, words
from tare.report.answer_grid import MARKS, answer_grids, summary
from tare.report.escaping import plain
from tare.report.overview import check_summary

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tare.analysis.model import Analysis
    from tare.report.answer_grid import AnswerGrid, GridCell

_TONES = {"cost": "bold red", "gain": "bold cyan", "tie": "bold"}
_KEY = ", ".join(f"{mark} {verdict}" for verdict, mark in MARKS.items())
_STATUS = {"warning": "yellow", "invalid": "bold red"}


def render_summary(analysis: Analysis) -> RenderableType:
    """The answers in sentences or tables, the primary effects, warnings, failed checks.

    Only that a result is void stands before its answer.
    """
    parts: list[RenderableType] = [_text(analysis.question or analysis.study, "bold"), Text()]
    parts += _alerts(words.alerts(analysis), "invalid")
    grids = answer_grids(analysis)
    if grids:
        parts += [_text(text) for text in summary(analysis)]
        for grid in grids:
            parts += [Text(), _text(grid.title, "bold"), _grid(grid)]
        left = sum(len(grid.rows) - grid.leading for grid in grids if grid.leading)
        if left:
            parts += [Text(), _text(f"{left:,} more rows, level by level, are in report.html.")]
        parts.append(_text(_KEY, "dim"))
    else:
        parts += [_answer(answer) for answer in words.answers(analysis)]
        if analysis.effects:
            parts += [Text(), _table(analysis)]
    parts += _alerts(words.alerts(analysis), "warning")
    noise = [*identical.sentences(analysis), *ending.looks(analysis)]
    if noise:
        parts += [Text(), *(_text(text) for text in noise)]
    first, _ = dependence.interactions(analysis)
    further = [*first, *dependence.noisier(analysis)]
    if further:
        parts += [Text(), *(_text(text) for text in further)]
    state = "Valid" if analysis.valid else "Not valid"
    parts += [Text(), _text(f"{state}. {check_summary(analysis.checks)}.", "bold")]
    for check in analysis.checks:
        if check.status != "ok":
            line = _text(f"  {check.status}: ", _STATUS[check.status])
            parts.append(line + _text(f"{check.name}: {check.summary}"))
    missing = left_out.sentences(analysis)
    if missing:
        parts += [Text(), _text(f"{left_out.TITLE}. {missing[0]}", "bold")]
        parts += [_text(f"  {text}") for text in missing[1:]]
    more = ending.further(analysis)
    if more:
        parts += [Text(), *(_text(text, "bold") for text in more)]
    return Group(*parts)


def _alerts(alerts: list[words.Alert], level: str) -> list[RenderableType]:
    colour, name = ("red", "not valid") if level == "invalid" else ("yellow", "warning")
    return [
        Panel(
            _text("\n".join((alert.headline, *map(plain, alert.details)))),
            title=_text(name, f"bold {colour}"),
            border_style=colour,
            title_align="left",
        )
        for alert in alerts
        if alert.level == level
    ]


def _answer(answer: words.Answer) -> RenderableType:
    line = _text(answer.name or answer.treatment, "bold") + _text(": ")
    if answer.aa:
        line = _text(answer.treatment, "bold") + _text(" (control, the same setup again): ")
    for i, one in enumerate(answer.lines):
        line += _text(("; " if i else "") + one.before)
        line += _text(one.change, _TONES[one.tone])
        line += _text(f" {one.evidence}: ")
        line += _text(one.verdict, "bold") + _text(one.tail)
    return Padding(line + _text("."), (0, 0, 0, 0))


def _grid(grid: AnswerGrid) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(_text(grid.corner))
    for name in grid.columns:
        table.add_column(_text(name), no_wrap=False)
    for name, cells in grid.rows[: grid.leading or None]:
        table.add_row(_text(name), *(_cell(cell) for cell in cells))
    return table


def _cell(cell: GridCell | None) -> Text:
    if cell is None:
        return _text("")
    return _text(f"{cell.change} {cell.mark}", _TONES[cell.tone]) + _text(
        f"\n{cell.interval}", "dim"
    )


def _table(analysis: Analysis) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("treatment", "metric", "baseline", "treated", "change", "95% interval"):
        table.add_column(name)
    primary = [m.name for m in words.primary_metrics(analysis)]
    for effect in analysis.effects:
        if effect.metric not in primary:
            continue
        metric = words.metric_of(analysis, effect.metric)
        style = _TONES[words.tone(analysis, effect)]
        table.add_row(
            _text(effect.treatment + (" (A/A)" if effect.aa else "")),
            _text(words.in_sentence(metric)),
            _text(numbers.quantity(effect.baseline_value, metric.unit)),
            _text(numbers.quantity(effect.treatment_value, metric.unit)),
            _text(numbers.change(effect.ratio), style),
            _text(numbers.interval(effect.ci)),
        )
    return table


def _text(content: str, style: str = "") -> Text:
    """Text without markup or control characters; the minus is ASCII, for any terminal."""
    lines = "\n".join(plain(line) for line in content.split("\n"))
    return Text(lines.replace(numbers.MINUS, "-"), style)
