"""The median run by throughput, and every repetition beside it: Grambow 2018, Figures 3 to 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.exhibits.frame import Content
from tare.analysis.exhibits.marks import Marks, joined
from tare.analysis.model import Chart, Grid
from tare.analysis.summaries import median_trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.exhibits.frame import ConditionGroup, Frame
    from tare.analysis.model import Metric
    from tare.analysis.model.exhibits import Cell

AFTER = "Grambow et al. 2018, Figures 3 to 5"


def median_run(frame: Frame) -> Content:
    """Per panel: over the compared combinations, the median run's values and all repetitions.

    The median run is the trial with the median throughput (of an even number, the lower of the two
    middle trials). Its own latencies are shown, not the median of the latencies.
    """
    have, gone = frame.available(*frame.per_operation("mean"))
    panels = frame.groups(list(frame.asked.panels) or frame.rest(*frame.lines), named=True)
    combinations = frame.line_groups
    charts: list[Chart] = []
    rows: list[list[Cell]] = []
    for panel in panels:
        cells = [(one.label, one.within(panel)) for one in combinations]
        if any(len(cell.conditions) > 1 for _, cell in cells):
            rest = ", ".join(frame.rest(*frame.lines, *frame.asked.panels))
            reason = f"A run belongs to one condition: name one level of {rest} in where."
            return Content("Median run", reason)
        for unit in dict.fromkeys(metric.unit for metric in have):
            alike = [metric for metric in have if metric.unit == unit]
            charts += _chart(frame, panel, cells, alike)
        rows += _rows(frame, panel, cells, have)
    caption = (
        "Lines join the runs with the median throughput; the lighter points are all other "
        "repetitions. " + gone
    )
    if not charts:
        return Content("Median run", "No trial has both a throughput and these metrics. " + gone)
    columns = [*(["Panel"] if len(panels) > 1 else []), "Condition", "Median run", "Runs"]
    texts = len(columns) - 1
    columns += ["Throughput"]
    units = [""] * (texts + 1) + ["operations/s"]
    for metric in have:
        columns += [metric.title, f"{metric.title}: sd over runs"]
        units += [metric.unit, metric.unit]
    grid = Grid(columns=columns, units=units, rows=rows)
    return Content("Median run", caption, charts, [grid])


def _chart(
    frame: Frame,
    panel: ConditionGroup,
    cells: Sequence[tuple[str, ConditionGroup]],
    metrics: Sequence[Metric],
) -> list[Chart]:
    layers = []
    for metric in metrics:
        median, others = Marks(metric.title), Marks(metric.title, minor=True)
        for place, (label, cell) in enumerate(cells):
            for name in cell.names:
                chosen = median_trial(frame.by_condition[name])
                for trial in frame.by_condition[name]:
                    value = trial.values.get(metric.name)
                    if value is None:
                        continue
                    is_median = trial.name == chosen
                    note = "median run" if is_median else ""
                    into = median if is_median else others
                    into.add(place, value, joined(label, trial.name, note), [name], [trial.name])
        layers += [*others.layers("points"), *median.layers("line", "points")]
    if not any(layer.kind == "line" for layer in layers):
        return []
    chart = Chart(
        title=panel.label,
        x_title=" and ".join(frame.lines),
        y_title=metrics[0].title.partition(",")[0],
        y_unit=metrics[0].unit,
        categories=[label for label, _ in cells],
        layers=layers,
    )
    return [chart]


def _rows(
    frame: Frame,
    panel: ConditionGroup,
    cells: Sequence[tuple[str, ConditionGroup]],
    metrics: Sequence[Metric],
) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for label, cell in cells:
        for name in cell.names:
            trials = frame.by_condition[name]
            chosen = median_trial(trials)
            median = next((t.values for t in trials if t.name == chosen), None)
            if median is None:
                continue
            head: list[Cell] = [panel.label] if panel.label else []
            row: list[Cell] = [*head, label, chosen, float(len(trials)), median["throughput"]]
            for metric in metrics:
                values = [t.values[metric.name] for t in trials if metric.name in t.values]
                sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
                row += [median.get(metric.name), sd]
            rows.append(row)
    return rows
