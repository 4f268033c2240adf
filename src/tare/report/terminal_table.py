"""The answers in the terminal: a table per metric, and sentences for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from tare.enumeration import listing
from tare.report import numbers, words
from tare.report.chains import COLUMNS, changes, title
from tare.report.escaping import plain
from tare.report.labels import condition_labels
from tare.report.terminal_text import TONES, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from tare.analysis.model import Analysis, Effect, Metric

_LONG = "different within the margin"
_SHORTER = (
    "different within\nthe margin",
    "different\nwithin margin",
    "different\nwithin the\nmargin",
)
"""`_LONG` in fewer and fewer columns."""
_ANY_WIDTH = 1000
_INDENT = "  "
_NAME = 6
"""Least columns of a name."""
Row = tuple[words.TreatmentAnswer, words.MetricAnswer]


def tables(analysis: Analysis) -> list[RenderableType]:
    """For each primary metric a heading and the rows of its comparisons, controls last."""
    parts: list[RenderableType] = []
    answers = words.answers(analysis)
    for metric in words.primary_metrics(analysis):
        rows = [(one, line) for one in answers for line in one.lines if line.metric == metric.name]
        if rows:
            parts += [text(""), _Rows(analysis, metric, rows)]
    return parts


def chains(analysis: Analysis) -> list[RenderableType]:
    """Ways into a server over another server: a row each, under its metric; empty: there are none.

    The page has the same ways in a table of fewer rows.
    """
    if not analysis.chains:
        return []
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", overflow="fold", min_width=_NAME)
    for name in COLUMNS:
        table.add_column(name, no_wrap=True, justify="right")
    named, metric = condition_labels(analysis), ""
    for one in analysis.chains:
        if one.metric != metric:
            metric = one.metric
            table.add_row(text(words.metric_of(analysis, metric).title, "dim"))
        name = plain(named.get(one.treatment, one.treatment))
        table.add_row(text(f"{_INDENT}{name}"), *map(text, changes(one)))
    return [text(""), text(title(analysis), "bold"), table]


@dataclass(frozen=True)
class _Rows:
    """One metric's comparisons, in any width."""

    analysis: Analysis
    metric: Metric
    rows: Sequence[Row]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for verdict in _SHORTER:
            heading, table = _table(self.analysis, self.metric, self.rows, verdict)
            whole = Measurement.get(console, options.update(max_width=_ANY_WIDTH), table).maximum
            first = [cell.plain for cell in table.columns[0].cells if isinstance(cell, Text)]
            word = max(len(word) for name in first for word in name.split())
            if whole - max(map(len, first)) + len(_INDENT) + word <= options.max_width:
                break  # only names are broken, between their words
        yield heading
        yield table


def _table(
    analysis: Analysis, metric: Metric, rows: Sequence[Row], verdict: str
) -> tuple[Text, Table]:
    values = [
        numbers.quantity(value, metric.unit)
        for _, line in rows
        for one in [analysis.effects[line.effect]]
        for value in (one.baseline_value, one.treatment_value)
    ]
    units = {value.partition(" ")[2] for value in values}
    unit = units.pop() if len(units) == 1 else ""
    margin = words.margin_of(analysis, metric.name)
    heading = f"{metric.title}{', ' if unit else ''}{unit}"
    if margin is not None:
        heading += f" (margin {numbers.share(margin)})"
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", overflow="fold", min_width=_NAME)
    for name in ("baseline", "treated", "change", "95% interval"):
        table.add_column(name, no_wrap=True, justify="right")
    table.add_column("verdict", no_wrap=True)
    over = ""
    for answer, line in rows:
        own = f"over {answer.against}{' (control)' if answer.aa else ''}"
        if own != over:
            over = own
            table.add_row(text(over, "dim"))
        said = verdict if line.verdict == _LONG else line.verdict
        effect = analysis.effects[line.effect]
        table.add_row(*_cells(effect, answer, line, metric, unit), text(said, "bold"))
    return text(heading, "bold"), table


def _cells(
    effect: Effect,
    answer: words.TreatmentAnswer,
    line: words.MetricAnswer,
    metric: Metric,
    unit: str,
) -> list[Text]:
    """A row without its verdict."""
    sides = (
        numbers.quantity(value, metric.unit).removesuffix(f" {unit}" if unit else "")
        for value in (effect.baseline_value, effect.treatment_value)
    )
    return [
        text(f"{_INDENT}{answer.treatment if answer.aa else answer.name or answer.treatment}"),
        *(text(side) for side in sides),
        text(numbers.change(effect.ratio), TONES[line.tone]),
        text(numbers.interval(effect.ci)),
    ]


def apart(analysis: Analysis) -> list[str]:
    """Other differences in a comparison, to be read before its numbers."""
    found: dict[str, list[str]] = {}
    for answer in words.answers(analysis):
        if answer.differs:
            found.setdefault(answer.differs, []).append(answer.name or answer.treatment)
    return _grouped(found)


def additions(analysis: Analysis) -> list[str]:
    """The units that would decide open comparisons, and differences that noise makes doubtful."""
    found: dict[str, list[str]] = {}
    for answer in words.answers(analysis):
        for line in answer.lines:
            said = words.addition(analysis, analysis.effects[line.effect])
            if said:
                metric = words.in_sentence(words.metric_of(analysis, line.metric))
                name = answer.treatment if answer.aa else answer.name or answer.treatment
                found.setdefault(said, []).append(f"{metric} of {name}")
    return _grouped(found)


def _grouped(found: dict[str, list[str]]) -> list[str]:
    """A sentence for each remark, with everything that it is about."""
    return [f"{_capital(listing(of))}: {remark}." for remark, of in found.items()]


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
