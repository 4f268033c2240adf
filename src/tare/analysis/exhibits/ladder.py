"""Metrics against load steps, and the maximum over them: Shirinbab 2020, Figures 1 to 9."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.catalogue import describe
from tare.analysis.exhibits.alike import alike
from tare.analysis.exhibits.frame import ConditionGroup, Content, marks_of, missing
from tare.analysis.exhibits.marks import counted, ends_of, joined, metric_chart
from tare.analysis.model import Chart, Grid
from tare.study.show_rules import MEASURED, step_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.exhibits.frame import Frame
    from tare.analysis.exhibits.means import Mean
    from tare.analysis.model import Layer, Metric
    from tare.analysis.model.exhibits import Cell

AFTER_LADDER = "Shirinbab et al. 2020, Figures 2 to 9 and Table 2"
AFTER_MAXIMUM = "Shirinbab et al. 2020, Figure 1"


def ladder(frame: Frame) -> Content:
    """Each metric over the load steps (or the throughput measured in them), a line a platform."""
    usual = ("cpu.util", "all.mean", "all.max")
    have, gone = frame.available(*usual, least=usual)
    measured = frame.asked.x == MEASURED and MEASURED not in frame.study.factors
    step = step_factor(frame.study, frame.asked) or ""
    taken = [*frame.lines, *frame.asked.panels]
    stepped = frame.rest(*taken) if measured else [step]
    frame, left = alike(frame, [*frame.asked.panels, *stepped], frame.holding(have))
    gone = left + gone
    panels = frame.groups(frame.asked.panels, named=True)
    steps = frame.groups(stepped)
    charts = []
    for panel in panels:
        for metric in have:
            layers: list[Layer] = []
            for line in frame.line_groups:
                own = line.within(panel)
                layers += _line(frame, own, steps, metric, "" if measured else step)
            if layers:
                charts.append(_chart(frame, panel, metric, "" if measured else step, layers))
    if not charts:
        return Content("Load steps", "Nothing to draw. " + gone)
    averaged = "" if measured else frame.averaged(*taken, step)
    along = "the throughput measured in each step" if measured else f"the steps of {step}"
    caption = f"Means over {along}, with 95% intervals over repetitions. {averaged}{gone}"
    return Content("Load steps", caption, charts, [_table(frame, panels, stepped, have)])


def _line(
    frame: Frame, line: ConditionGroup, steps: Sequence[ConditionGroup], metric: Metric, step: str
) -> list[Layer]:
    found: list[tuple[float, Mean, str, ConditionGroup]] = []
    scale = frame.steps(step) if step else None
    for one in steps:
        cell = line.within(ConditionGroup(one.label, one.levels, one.conditions))
        mean = frame.mean(cell, metric.name)
        throughput = frame.mean(cell, MEASURED)
        if mean is None or (not step and throughput is None):
            continue
        if not step and throughput is not None:
            x = throughput.value
        else:
            x = scale.values[one.levels[step]] if scale else float(len(found))
        found.append((x, mean, one.label, cell))
    marks = marks_of(line)
    for x, mean, label, cell in sorted(found, key=lambda item: item[0]):
        marks.add(
            x,
            mean.value,
            joined(line.label, f"{step} {label}".strip(), counted(mean.repeated)),
            cell.names,
            frame.trials_of(cell, metric.name),
            ends_of(mean),
        )
    return marks.layers("line", "points")


def _chart(
    frame: Frame, panel: ConditionGroup, metric: Metric, step: str, layers: list[Layer]
) -> Chart:
    scale = frame.steps(step) if step else None
    title, unit = ("Throughput", "operations/s") if not step else (step, "")
    if scale is not None:
        title, unit = scale.title, scale.unit
    return metric_chart(metric, layers, panel.label, x=title, x_unit=unit, from_zero=True)


def _table(
    frame: Frame,
    panels: Sequence[ConditionGroup],
    stepped: Sequence[str],
    metrics: Sequence[Metric],
) -> Grid:
    """As Table 2: a row per panel and step, per platform the metrics side by side."""
    lines = frame.line_groups
    heads = [*frame.asked.panels, *stepped]
    columns, units = list(heads), [""] * len(heads)
    for line in lines:
        for metric in metrics:
            columns.append(f"{line.label}: {metric.title}")
            units.append(metric.unit)
    rows: list[list[Cell]] = []
    for panel in panels:
        for step in frame.groups(list(stepped)):
            means: list[Mean | None] = [
                frame.mean(line.within(panel).within(step), metric.name)
                for line in lines
                for metric in metrics
            ]
            if any(mean is not None for mean in means):
                names: list[Cell] = [panel.levels[f] for f in frame.asked.panels]
                names += [step.levels[f] for f in stepped]
                rows.append([*names, *(mean.value if mean else None for mean in means)])
    return Grid(columns=columns, units=units, rows=rows)


def maximum(frame: Frame) -> Content:
    """Per platform the highest mean over the load steps, and at which step it was reached."""
    metric = (frame.metrics(MEASURED) or [describe(MEASURED)])[0]
    panels = frame.groups(frame.asked.panels, named=True)
    x = frame.asked.x or ""
    along = frame.groups([x] if x else [], named=False)
    lines = frame.line_groups
    stepped = frame.rest(*frame.lines, *frame.asked.panels, *([x] if x else []))
    steps = frame.groups(stepped)
    beside = [describe(name) for name in ("cpu.util", "all.mean") if name in frame.known]
    rows: list[list[Cell]] = []
    charts = []
    for panel in panels:
        layers: list[Layer] = []
        for line in lines:
            marks = marks_of(line)
            for place, at in enumerate(along):
                own = line.within(panel).within(at)
                best = _best(frame, own, steps, metric)
                if best is None:
                    continue
                step, cell, mean = best
                label = joined(line.label, at.label, f"at {step.label}" if step.label else "")
                trials = frame.trials_of(cell, metric.name)
                at_x = place if x else lines.index(line)
                marks.add(at_x, mean.value, label, cell.names, trials, ends_of(mean))
                heads: list[Cell] = [panel.levels[f] for f in frame.asked.panels]
                heads += [at.label] if x else []
                others = [frame.mean(cell, one.name) for one in beside]
                row: list[Cell] = [*heads, line.label, mean.value, mean.low, mean.high, step.label]
                rows.append([*row, *(one.value if one else None for one in others)])
            layers += marks.layers("bars")
        if layers:
            charts.append(_bars(panel, metric, x, along if x else lines, layers))
    if not charts:
        return Content("Maximum", missing("values", [metric.name]))
    columns = [*frame.asked.panels, *([x] if x else []), "Platform", "Maximum", "95% low"]
    columns += ["95% high", "Reached at", *(one.title for one in beside)]
    texts = len(columns) - 4 - len(beside)
    units = [""] * texts + [metric.unit] * 3 + ["", *(one.unit for one in beside)]
    over = f" over the levels of {', '.join(stepped)}" if stepped else ""
    caption = f"The highest mean{over}, with the 95% interval of that mean over repetitions. " + (
        "The highest of several means is a little too high: the interval does not count that "
        "it was chosen."
        if stepped
        else ""
    )
    grid = Grid(columns=columns, units=units, rows=rows)
    return Content(f"Maximum {metric.title.lower()}", caption, charts, [grid])


def _best(
    frame: Frame, own: ConditionGroup, steps: Sequence[ConditionGroup], metric: Metric
) -> tuple[ConditionGroup, ConditionGroup, Mean] | None:
    found = []
    for step in steps:
        cell = own.within(step)
        mean = frame.mean(cell, metric.name)
        if mean is not None:
            found.append((step, cell, mean))
    return max(found, key=lambda one: one[2].value, default=None)


def _bars(
    panel: ConditionGroup,
    metric: Metric,
    x: str,
    along: Sequence[ConditionGroup],
    layers: list[Layer],
) -> Chart:
    return Chart(
        title=panel.label,
        x_title=x,
        y_title=metric.title,
        y_unit=metric.unit,
        categories=[one.label for one in along],
        y_from_zero=True,
        layers=layers,
    )
