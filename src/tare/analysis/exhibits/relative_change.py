"""Relative changes as a table and as bars, after Grambow 2018, Tables 3 and 4."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.exhibits.change_rows import Changes, StepRow, common_steps, left_out
from tare.analysis.exhibits.frame import ConditionGroup, Content, marks_of, missing
from tare.analysis.exhibits.marks import joined
from tare.analysis.model import Chart, Grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tare.analysis.exhibits.frame import Frame
    from tare.analysis.model import Effect, Layer, Metric
    from tare.analysis.model.exhibits import Cell

AFTER = "Grambow et al. 2018, Tables 3 and 4"


def relative_change(frame: Frame) -> Content:
    """Rows: levels of x by metric; columns: the compared combinations; percent change.

    The numbers are the effects of the analysis. The last rows average over x.
    """
    metrics = frame.metrics(*frame.per_operation("mean"))
    x, panels = _row_factors(frame)
    rows = _rows(frame, x, panels)
    combinations = frame.line_groups
    base = _baseline(frame, combinations)
    treated = [one for one in combinations if one is not base]
    found = _changes(frame, rows, metrics, treated)
    shown = [m for m in metrics if any(name == m.name for _, name, _ in found.changes)]
    gone = missing("effects", [m.name for m in metrics if m not in shown])
    if not found.changes:
        none = "No effect of the analysis compares these combinations. "
        return Content("Relative change", none + gone)
    over = sorted({f for e in found.effects.values() for f in e.over} - {x, *panels})
    caption = (
        f"Change of each combination against {base.label if base else 'the baseline'}, in percent; "
        "a longer latency is a positive change. "
        + (f"Averaged over the levels of {', '.join(over)}. " if over else "")
        + "The second table has the 95% intervals and verdicts. "
        + left_out(rows, shown, treated, found)
        + gone
    )
    charts = [
        _chart(frame, metric, x, panel, own, treated, found)
        for panel, own in _by_panel(rows)
        for metric in shown
    ]
    heads = [*panels, *([x] if x else [])]
    headed = _headed(heads, rows, shown)
    grids = [
        _table(heads, headed, base, treated, found),
        _details(heads, headed, treated, found),
    ]
    return Content("Relative change", caption, charts, grids)


def _row_factors(frame: Frame) -> tuple[str, list[str]]:
    """(x, factors of the panels): those asked for; else the study's `by`, its last one as x."""
    over = frame.study.analysis.over
    averaged = over.factors if over else []
    free = frame.rest(*frame.lines, *averaged, *frame.asked.panels)
    by = [factor for factor in frame.study.analysis.by if factor in free]
    x = frame.asked.x or next(iter([*reversed(by), *free]), "")
    panels = list(frame.asked.panels) or [factor for factor in by if factor != x]
    return x, panels


def _rows(frame: Frame, x: str, panels: list[str]) -> list[StepRow]:
    rows = []
    for panel in frame.groups(panels):
        steps = [step for step in frame.groups([x] if x else []) if step.within(panel).conditions]
        rows += [StepRow(panel, step) for step in steps]
        if x and len(steps) > 1:
            rows.append(StepRow(panel, ConditionGroup("avg", {}, panel.conditions), x))
    return rows


def _changes(
    frame: Frame,
    rows: Sequence[StepRow],
    metrics: Sequence[Metric],
    treated: Sequence[ConditionGroup],
) -> Changes:
    found = Changes({}, {})
    for place, row in enumerate(rows):
        for metric in metrics:
            for one in treated:
                key = place, metric.name, one.label
                effect = _effect(frame, metric, {**row.levels, **one.levels}, row.averaged)
                if effect is not None:
                    found.effects[key] = effect
                    found.changes[key] = (effect.ratio - 1) * 100
                elif row.averaged:  # as the papers do: the mean of the rows above
                    above = [
                        found.changes[k, metric.name, one.label]
                        for k in common_steps(rows, place, metric, treated, found)
                        if (k, metric.name, one.label) in found.changes
                    ]
                    if above:
                        found.changes[key] = float(np.mean(above))
    return found


def _by_panel(
    rows: Sequence[StepRow],
) -> Iterator[tuple[ConditionGroup, list[tuple[int, StepRow]]]]:
    """Each panel with its rows and their places."""
    for _, own in itertools.groupby(enumerate(rows), key=lambda one: id(one[1].panel)):
        found = list(own)
        yield found[0][1].panel, found


def _baseline(frame: Frame, combinations: Sequence[ConditionGroup]) -> ConditionGroup | None:
    wanted = frame.study.baseline
    return next(
        (
            one
            for one in combinations
            if all(wanted.get(factor) == level for factor, level in one.levels.items())
        ),
        None,
    )


def _effect(frame: Frame, metric: Metric, levels: dict[str, str], averaged: str) -> Effect | None:
    """The effect of exactly these levels; if `averaged` is given, the effect averaged over it."""
    where = frame.asked.where
    near = [
        e
        for e in frame.effects
        if e.metric == metric.name
        and all(e.levels.get(factor) == level for factor, level in levels.items())
        and all(f not in e.levels or e.levels[f] in allowed for f, allowed in where.items())
        and (averaged in e.over if averaged else not set(levels) & set(e.over))
        and _of_one_question(frame, e)
    ]
    # a study without `over` leaves several: one per level of the other factors
    return near[0] if len(near) == 1 else None


def _of_one_question(frame: Frame, effect: Effect) -> bool:
    """Whether the effect compares the exhibit's factors, and these alone, with the baseline."""
    return effect.factor in ("", *frame.lines)


def _headed(
    heads: Sequence[str], rows: Sequence[StepRow], metrics: Sequence[Metric]
) -> list[tuple[int, str, list[Cell]]]:
    """For every row and metric: the row's place, the metric's name, and the cells for both."""
    levels = [{**row.levels, row.averaged: f"avg over {row.averaged}"} for row in rows]
    return [
        (place, metric.name, [*(own[factor] for factor in heads), metric.name])
        for place, own in enumerate(levels)
        for metric in metrics
    ]


def _table(
    heads: Sequence[str],
    headed: Sequence[tuple[int, str, list[Cell]]],
    base: ConditionGroup | None,
    treated: Sequence[ConditionGroup],
    found: Changes,
) -> Grid:
    """As the paper prints it: the baseline's zeros, then the changes."""
    table: list[list[Cell]] = []
    zero: list[Cell] = [0.0] if base else []
    for place, metric, names in headed:
        cells = [found.changes.get((place, metric, one.label)) for one in treated]
        if any(cell is not None for cell in cells):
            table.append([*names, *zero, *cells])
    columns = [*heads, "Metric", *([base.label] if base else [])]
    texts = len(heads) + 1
    columns += [one.label for one in treated]
    return Grid(
        title="Relative change",
        columns=columns,
        units=[""] * texts + ["%"] * (len(columns) - texts),
        rows=table,
    )


def _details(
    heads: Sequence[str],
    headed: Sequence[tuple[int, str, list[Cell]]],
    treated: Sequence[ConditionGroup],
    found: Changes,
) -> Grid:
    """A row per effect: interval, verdict, what it is averaged over."""
    table: list[list[Cell]] = []
    for place, metric, names in headed:
        for one in treated:
            effect = found.effects.get((place, metric, one.label))
            if effect is not None:
                ends = [(end - 1) * 100 for end in (effect.ratio, *effect.ci)]
                over = ", ".join(effect.over)
                table.append([*names, one.label, *ends, effect.verdict, over])
    columns = [*heads, "Metric", "Treatment", "Change", "95% low", "95% high"]
    units = [""] * (len(heads) + 2) + ["%"] * 3 + ["", ""]
    return Grid(
        title="Intervals and verdicts",
        columns=[*columns, "Verdict", "Averaged over"],
        units=units,
        rows=table,
    )


def _ends(effect: Effect | None) -> tuple[float | None, float | None]:
    """The 95% interval in percent."""
    if effect is None:
        return None, None
    return (effect.ci[0] - 1) * 100, (effect.ci[1] - 1) * 100


def _chart(
    frame: Frame,
    metric: Metric,
    x: str,
    panel: ConditionGroup,
    rows: Sequence[tuple[int, StepRow]],
    treated: Sequence[ConditionGroup],
    found: Changes,
) -> Chart:
    layers: list[Layer] = []
    for one in treated:
        marks = marks_of(one)
        for at, (place, row) in enumerate(rows):
            change = found.changes.get((place, metric.name, one.label))
            effect = found.effects.get((place, metric.name, one.label))
            if change is not None:
                cell = one.within(row.cells)
                step = f"{x} {row.step.label}" if x else ""
                verdict = effect.verdict if effect else "mean of the others, no interval"
                marks.add(
                    at,
                    change,
                    joined(one.label, panel.label, step, verdict),
                    cell.names,
                    frame.trials_of(cell, metric.name),
                    _ends(effect),
                )
        layers += marks.layers("bars")
    return Chart(
        title=joined(metric.title, panel.label),
        x_title=x,
        y_title="Change",
        y_unit="%",
        categories=[row.step.label for _, row in rows],
        reference=0.0,
        layers=layers,
    )
