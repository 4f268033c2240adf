"""Means as bars, one value for all points of a condition group: Truyen 2018, Figures 2 and 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.exhibits.alike import alike
from tare.analysis.exhibits.frame import Content, marks_of
from tare.analysis.exhibits.marks import counted, ends_of, joined, metric_chart
from tare.analysis.model import Grid

if TYPE_CHECKING:
    from tare.analysis.exhibits.frame import ConditionGroup, Frame
    from tare.analysis.model import Chart, Layer, Metric
    from tare.analysis.model.exhibits import Cell

AFTER = "Truyen et al. 2018, Figures 2 and 3"


def mean_bars(frame: Frame) -> Content:
    """Per panel and metric: a bar per line and level of x, averaged over all other factors."""
    have, gone = frame.available(*frame.per_operation("mean"), *frame.per_operation("p95"))
    x = frame.asked.x or ""
    factors = [*frame.asked.panels, *([x] if x else [])]
    frame, left = alike(frame, factors, frame.holding(have))
    gone = left + gone
    charts: list[Chart] = []
    rows: list[list[Cell]] = []
    for panel in frame.groups(frame.asked.panels, named=True):
        for metric in have:
            layers = _layers(frame, panel, metric, x)
            if layers:
                places = frame.groups([x]) if x else frame.line_groups
                names = (one.label for one in places)
                charts.append(
                    metric_chart(metric, layers, panel.label, x=x, categories=names, from_zero=True)
                )
    for cell in frame.groups(factors):
        for line in frame.line_groups:
            own = line.within(cell)
            means = [frame.mean(own, metric.name) for metric in have]
            if any(means):
                numbers: list[Cell] = []
                for mean in means:
                    numbers += [mean.value, mean.low, mean.high] if mean else [None, None, None]
                heads: list[Cell] = [cell.levels[factor] for factor in factors]
                rows.append([*heads, line.label, *numbers])
    if not charts:
        return Content("Means", "Nothing to draw. " + gone)
    columns, units = [*factors, " and ".join(frame.lines)], [""] * (len(factors) + 1)
    for metric in have:
        columns += [metric.title, "95% low", "95% high"]
        units += [metric.unit] * 3
    averaged = frame.averaged(*frame.lines, *factors)
    caption = f"Means with 95% intervals over repetitions. {averaged}{gone}"
    return Content("Means", caption, charts, [Grid(columns=columns, units=units, rows=rows)])


def _layers(frame: Frame, panel: ConditionGroup, metric: Metric, x: str) -> list[Layer]:
    layers: list[Layer] = []
    for i, line in enumerate(frame.line_groups):
        marks = marks_of(line)
        for place, at in enumerate(frame.groups([x] if x else [])):
            cell = line.within(panel).within(at)
            mean = frame.mean(cell, metric.name)
            if mean is not None:
                label = joined(line.label, panel.label, at.label, counted(mean.repeated))
                trials = frame.trials_of(cell, metric.name)
                marks.add(place if x else i, mean.value, label, cell.names, trials, ends_of(mean))
        layers += marks.layers("bars")
    return layers
