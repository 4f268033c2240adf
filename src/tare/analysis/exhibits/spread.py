"""Box plots, and means with standard deviations and Cohen's d: the KVM thesis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.exhibits.frame import Content, marks_of
from tare.analysis.exhibits.marks import joined, metric_chart
from tare.analysis.model import Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.exhibits.frame import ConditionGroup, Frame
    from tare.analysis.model import Chart, Layer, Metric
    from tare.analysis.model.exhibits import Cell

AFTER_BOX = "KVM thesis (BTH 2016), Figures 9, 10, 12 and 13"
AFTER_SPREAD = "KVM thesis (BTH 2016), Tables 2 and 3 and section 5.3.1"
WHISKER = 1.5
"""Whiskers reach the furthest value within this many interquartile ranges (Tukey 1977)."""
FEW = 5
WORDS = ((0.2, "negligible"), (0.5, "small"), (0.8, "medium"), (math.inf, "large"))
"""Cohen 1988: 0.2 is a small effect, 0.5 a medium one, 0.8 a large one."""


def cohens_d(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Difference of the means over sqrt((s1^2 + s2^2) / 2), second minus first; None without s."""
    if len(first) < 2 or len(second) < 2:
        return None
    pooled = math.sqrt((float(np.var(first, ddof=1)) + float(np.var(second, ddof=1))) / 2)
    return (float(np.mean(second)) - float(np.mean(first))) / pooled if pooled > 0 else None


def in_words(d: float | None) -> str:
    """negligible, small, medium or large."""
    return "" if d is None else next(word for limit, word in WORDS if abs(d) < limit)


def spread(frame: Frame) -> Content:
    """Per panel and metric: mean and standard deviation of each line, Cohen's d to the first."""
    have, gone = frame.available("throughput", "cpu.util", *frame.per_operation("mean"))
    factors = list(frame.asked.panels) or frame.rest(*frame.lines)
    lines = frame.line_groups
    rows: list[list[Cell]] = []
    charts: list[Chart] = []
    for panel in frame.groups(factors):
        for metric in have:
            heads: list[Cell] = [panel.levels[factor] for factor in factors]
            rows += _rows(frame, [*heads, metric.title], metric, panel, lines)
    panels = frame.groups(factors)
    for metric in have:
        layers: list[Layer] = []
        for line in lines:
            layers += _bars_of_sd(frame, metric, line, panels)
        if layers:
            names = (panel.label for panel in panels)
            along = " and ".join(factors)
            charts.append(metric_chart(metric, layers, x=along, categories=names))
    if not rows:
        return Content("Spread", "Nothing to show. " + gone)
    columns = [*factors, "Metric", " and ".join(frame.lines), "Trials", "Mean", "sd"]
    columns += [f"Against {lines[0].label}", "Change", "Cohen's d", "Effect"]
    texts = len(factors) + 2
    units = [""] * texts + ["count", "number", "number", "number", "%", "number", ""]
    caption = (
        "Mean and standard deviation over trials (the bars in the figure are one standard "
        "deviation, no interval). Cohen's d: difference of the means over \u221a((s1\u00b2 + "
        "s2\u00b2)/2); below 0.2 negligible, 0.5 small, 0.8 medium, above it large. It says how "
        f"far the trials overlap, not how much the difference matters. {gone}"
    )
    grid = Grid(columns=columns, units=units, rows=rows, notes=[_units(have)])
    return Content("Means, standard deviations, Cohen's d", caption, charts, [grid])


def _sample(frame: Frame, own: ConditionGroup, metric: Metric) -> dict[str, float]:
    found = frame.values(own.names, metric.name)
    return {trial: value for by_trial in found.values() for trial, value in by_trial.items()}


def _rows(
    frame: Frame,
    heads: list[Cell],
    metric: Metric,
    panel: ConditionGroup,
    lines: Sequence[ConditionGroup],
) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    base: list[float] | None = None
    for line in lines:
        values = list(_sample(frame, line.within(panel), metric).values())
        if not values:
            continue
        mean = float(np.mean(values))
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        row: list[Cell] = [*heads, line.label, float(len(values)), mean, sd]
        if line is lines[0]:
            base = values
            rows.append([*row, None, None, None, ""])
        elif base is None:
            rows.append([*row, None, None, None, ""])
        else:
            first = float(np.mean(base))
            d = cohens_d(base, values)
            change = (mean / first - 1) * 100 if first else None
            rows.append([*row, mean - first, change, d, in_words(d)])
    return rows


def _bars_of_sd(
    frame: Frame, metric: Metric, line: ConditionGroup, panels: Sequence[ConditionGroup]
) -> list[Layer]:
    marks = marks_of(line)
    for place, panel in enumerate(panels):
        own = line.within(panel)
        sample = _sample(frame, own, metric)
        values = list(sample.values())
        if len(values) < 2:
            continue
        mean, sd = float(np.mean(values)), float(np.std(values, ddof=1))
        label = joined(line.label, panel.label, f"{len(values)} trials", "\u00b1 one sd")
        marks.add(place, mean, label, own.names, list(sample), (mean - sd, mean + sd))
    return marks.layers("points")


def box(frame: Frame) -> Content:
    """Per panel and metric: a box per line over its trials' values, single values beside it."""
    have, gone = frame.available("throughput", *frame.per_operation("mean"))
    lines = frame.line_groups
    charts: list[Chart] = []
    rows: list[list[Cell]] = []
    least = 0
    for panel in frame.groups(frame.asked.panels, named=True):
        for metric in have:
            layers: list[Layer] = []
            for place, line in enumerate(lines):
                own = line.within(panel)
                sample = _sample(frame, own, metric)
                if sample:
                    drawn, numbers = _box(line, own, place, sample, frame)
                    layers += drawn
                    heads: list[Cell] = [*panel.levels.values(), metric.title, line.label]
                    rows.append([*heads, *numbers])
                    least = min(least, len(sample)) if least else len(sample)
            if layers:
                names = (line.label for line in lines)
                along = " and ".join(frame.lines)
                charts.append(metric_chart(metric, layers, panel.label, x=along, categories=names))
    if not charts:
        return Content("Box plots", "Nothing to draw. " + gone)
    caption = (
        "Each value is one trial. Box: quartiles and median; whiskers: the furthest value within "
        f"{WHISKER} interquartile ranges. "
        + (f"Quartiles of {least} values say little. " if least < FEW else "")
        + frame.pooled(*frame.lines, *frame.asked.panels)
        + gone
    )
    columns = [*frame.asked.panels, "Metric", " and ".join(frame.lines), "Trials", "Least"]
    columns += ["Quartile 1", "Median", "Quartile 3", "Most"]
    texts = len(frame.asked.panels) + 2
    units = [""] * texts + ["count"] + ["number"] * 5
    grid = Grid(columns=columns, units=units, rows=rows, notes=[_units(have)])
    return Content("Box plots", caption, charts, [grid])


def _units(metrics: Sequence[Metric]) -> str:
    return "Units: " + ", ".join(f"{one.title} {one.unit}" for one in metrics) + "."


def _box(
    line: ConditionGroup, own: ConditionGroup, place: int, sample: dict[str, float], frame: Frame
) -> tuple[list[Layer], list[Cell]]:
    values = np.asarray(list(sample.values()))
    first, median, third = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    reach = WHISKER * (third - first)
    inside = values[(values >= first - reach) & (values <= third + reach)]
    boxes, points = marks_of(line), marks_of(line, minor=True)
    label = joined(line.label, f"median of {len(values)} trials")
    ends = (float(inside.min()), float(inside.max()))
    boxes.add(place, median, label, own.names, list(sample), ends, (first, third))
    condition = {t.name: name for name in own.names for t in frame.by_condition[name]}
    for trial, value in sample.items():
        points.add(place, value, joined(line.label, trial), [condition[trial]], [trial])
    numbers: list[Cell] = [float(len(values)), float(values.min()), first, median, third]
    return [*boxes.layers("boxes"), *points.layers("points")], [*numbers, float(values.max())]
