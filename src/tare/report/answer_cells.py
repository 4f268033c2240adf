"""The answer of a study of few comparisons: change, interval, values and verdict of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from tare.report import numbers, words
from tare.report.escaping import plain
from tare.report.svg import add, panel
from tare.report.track import draw_axis, draw_bands, draw_estimate, drawable, effect_scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.model import Analysis, Effect, Metric
    from tare.report.scales import Scale
    from tare.report.words import MetricAnswer, Tone, TreatmentAnswer

WIDTH = 280
_TRACK, _AXIS, _SIDE = 16, 16, 10


@dataclass(frozen=True)
class AnswerCell:
    """One treatment on one primary metric; `bar` is a drawing, the rest text."""

    title: str
    change: str
    interval: str
    tone: Tone
    bar: Markup
    values: str
    verdict: str
    more: str
    """What the verdict rests on, or what would decide; empty: nothing to add."""


def answer_cells(analysis: Analysis, answers: Sequence[TreatmentAnswer]) -> dict[int, AnswerCell]:
    """Place of an effect in the analysis to the cell that shows it."""
    lines = [line for answer in answers for line in answer.lines]
    scales = {name: _scale(analysis, lines, name) for name in {line.metric for line in lines}}
    return {line.effect: _cell(analysis, line, scales[line.metric]) for line in lines}


def _scale(analysis: Analysis, lines: Sequence[MetricAnswer], metric: str) -> Scale | None:
    """One scale for all treatments, so that their bars can be compared."""
    shown = [analysis.effects[line.effect] for line in lines if line.metric == metric]
    effects = [effect for effect in shown if drawable(effect)]
    return effect_scale(effects, [], (_SIDE, WIDTH - _SIDE), blocks=False) if effects else None


def _cell(analysis: Analysis, line: MetricAnswer, scale: Scale | None) -> AnswerCell:
    effect = analysis.effects[line.effect]
    metric = words.metric_of(analysis, line.metric)
    open_ = effect.verdict == "inconclusive"
    return AnswerCell(
        title=plain(metric.title),
        change=words.OPEN if open_ else _undirected(line.change),
        interval=line.change if open_ else _unbroken(line.interval),
        tone=line.tone,
        bar=_bar(effect, line.tone, scale),
        values=_values(metric, effect),
        verdict=line.verdict,
        more=words.addition(analysis, effect) if open_ else _tail(line),
    )


def _undirected(change: str) -> str:
    """A change that rounds to no change is neither higher nor lower."""
    amount, _, _ = change.partition(" ")
    return amount if amount == "0.0%" else change


def _tail(line: MetricAnswer) -> str:
    """The margin is not named twice, and a doubt because of noise follows the verdict at once."""
    tail = line.tail.lstrip()
    return tail.replace(" margin)", ")") if "margin" in line.verdict else tail


def _values(metric: Metric, effect: Effect) -> str:
    """Both sides with their unit, and their difference where readers think in that unit."""
    base, treated = (
        plain(numbers.quantity(value, metric.unit))
        for value in (effect.baseline_value, effect.treatment_value)
    )
    unit = base.partition(" ")[2]
    if unit and unit == treated.partition(" ")[2]:
        base = base.removesuffix(f" {unit}")
    difference = words.difference(metric, effect)
    return f"{base} \u2192 {treated}" + (f" ({_unbroken(difference)})" if difference else "")


def _unbroken(interval: str) -> str:
    """An interval that no line break splits."""
    return interval.replace(", ", ",\u00a0")


def _bar(effect: Effect, tone: Tone, scale: Scale | None) -> Markup:
    """The interval on its track; a reader who cannot see it has the text beside it."""
    if scale is None or not drawable(effect):
        return Markup()
    drawing = panel("", WIDTH, _TRACK + _AXIS)
    root = drawing.root
    root.set("class", "bar")
    root.set("aria-hidden", "true")
    margins = [] if effect.margin is None else [effect.margin]
    draw_bands(root, scale, margins, [], (0, WIDTH, _TRACK))
    group = add(root, "g", tone + ("" if effect.verdict == "different" else " weak"))
    draw_estimate(group, effect, scale, _TRACK / 2)
    draw_axis(root, scale, _TRACK, WIDTH)
    return Markup(drawing.markup())  # noqa: S704 - made by the XML library, which escapes
