"""A metric over a numeric factor with its quadratic regression: Truyen 2018, Figures 1 and 4."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.exhibits.frame import ConditionGroup, Content, marks_of
from tare.analysis.exhibits.growth import growth, growth_grid
from tare.analysis.exhibits.marks import joined, metric_chart
from tare.analysis.model import Grid
from tare.study.show_rules import LEAST_STEPS, step_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.exhibits.frame import Frame
    from tare.analysis.exhibits.growth import Growth
    from tare.analysis.exhibits.marks import Marks
    from tare.analysis.model import Chart, Layer, Metric
    from tare.analysis.model.exhibits import Cell

AFTER = "Truyen et al. 2018, Figures 1 and 4"
DRAWN = 41
"""Points of a drawn curve."""


@dataclass(frozen=True)
class Fit:
    """y = c0 + c1 x + c2 x^2 by ordinary least squares.

    Attributes:
        coefficients: c0, c1, c2.
        ends: 95% intervals of the coefficients; empty where no value is left to judge them by.
        r2: share of the variance that the curve explains.
        n: values that it was fitted to.
        curve: (x, y, low, high) along the axis, the 95% band of the curve.
    """

    coefficients: tuple[float, float, float]
    ends: list[tuple[float, float]]
    r2: float
    n: int
    curve: list[tuple[float, float, float | None, float | None]]


def fit_quadratic(x: Sequence[float], y: Sequence[float]) -> Fit | None:
    """R's lm(y ~ x + I(x^2)); None with fewer than three different x."""
    if len(set(x)) < LEAST_STEPS:
        return None
    from statsmodels.regression.linear_model import OLS  # 100 MB, and few studies ask for it

    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    # centred and scaled, so that the columns are of the same size; turned back below
    middle, half = float(xs.mean()), float(np.ptp(xs)) / 2
    model = OLS(ys, _columns((xs - middle) / half)).fit()
    back = _back(middle, half)
    c0, c1, c2 = (float(c) for c in back @ model.params)
    at = np.linspace(xs.min(), xs.max(), DRAWN)
    design = _columns((at - middle) / half)
    band: list[tuple[float | None, float | None]] = [(None, None)] * DRAWN
    ends: list[tuple[float, float]] = []
    if model.df_resid > 0:
        predicted = model.get_prediction(design).conf_int(alpha=0.05)
        band = [(float(low), float(high)) for low, high in predicted]
        ends = [(float(low), float(high)) for low, high in model.t_test(back).conf_int(alpha=0.05)]
    drawn = design @ model.params
    curve = [
        (float(a), float(b), low, high) for a, b, (low, high) in zip(at, drawn, band, strict=True)
    ]
    r2 = float(model.rsquared) if float(np.ptp(ys)) > 0 else 1.0
    return Fit((c0, c1, c2), ends, r2, len(xs), curve)


def _columns(z: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones_like(z), z, z * z])


def _back(middle: float, half: float) -> np.ndarray:
    """From the coefficients in z = (x - middle) / half to those in x."""
    return np.array(
        [
            [1.0, -middle / half, (middle / half) ** 2],
            [0.0, 1 / half, -2 * middle / half**2],
            [0.0, 0.0, 1 / half**2],
        ]
    )


def quadratic_fit(frame: Frame) -> Content:
    """Per panel and metric: every trial a point, per line a curve with its 95% band."""
    x = step_factor(frame.study, frame.asked) or ""
    steps = frame.steps(x)
    title, unit = (steps.title, steps.unit) if steps else (x, "")
    have, gone = frame.available(*frame.per_operation("p95"), least=["p95"])
    charts: list[Chart] = []
    rows: list[list[Cell]] = []
    grown: list[tuple[list[Cell], Growth]] = []
    for panel in frame.groups(frame.asked.panels, named=True):
        for metric in have:
            layers, fits, growths = _panel(frame, panel, metric, x)
            heads: list[Cell] = [*(panel.levels[f] for f in frame.asked.panels), metric.name]
            rows += [[*heads, line, *_numbers(fit)] for line, fit in fits]
            grown += [([*heads, line], found) for line, found in growths]
            if layers:
                charts.append(metric_chart(metric, layers, panel.label, x=title, x_unit=unit))
    if not charts:
        return Content("Quadratic fit", "Nothing to draw. " + gone)
    pooled = frame.pooled(*frame.lines, *frame.asked.panels, x)
    caption = (
        "Each point is one trial; the curve is y = c0 + c1 x + c2 x\u00b2 by ordinary least "
        "squares, with the 95% band of the curve. Trials count as independent, also where they "
        f"share a deployment. {pooled}{gone}"
    )
    columns = [*frame.asked.panels, "Metric", "Line", "c0", "c0 95% low", "c0 95% high", "c1"]
    columns += ["c1 95% low", "c1 95% high", "c2", "c2 95% low", "c2 95% high", "R\u00b2", "Values"]
    note = f"y in the metric's unit, us for latencies; x in {x}."
    texts = len(frame.asked.panels) + 2
    units = [""] * texts + ["number"] * (len(columns) - texts)
    grids: list[Grid] = []
    if rows:
        title = "Coefficients of the curves" if grown else ""
        grids.append(Grid(title=title, columns=columns, units=units, rows=rows, notes=[note]))
    if grown:
        grids.append(growth_grid(grown, frame.asked.panels, x, frame.line_groups[0].label))
    return Content(f"Quadratic fit over {x}", caption, charts, grids)


def _numbers(fit: Fit) -> list[Cell]:
    cells: list[Cell] = []
    for i, value in enumerate(fit.coefficients):
        low, high = fit.ends[i] if fit.ends else (None, None)
        cells += [value, low, high]
    return [*cells, fit.r2, float(fit.n)]


def _panel(
    frame: Frame, panel: ConditionGroup, metric: Metric, x: str
) -> tuple[list[Layer], list[tuple[str, Fit]], list[tuple[str, Growth]]]:
    """The drawn content: each line's curve, and how its distance from the first line grows."""
    layers: list[Layer] = []
    fits: list[tuple[str, Fit]] = []
    growths: list[tuple[str, Growth]] = []
    base: Marks | None = None
    for line in frame.line_groups:
        own = line.within(panel)
        points = _points(frame, line, own, metric, x)
        drawn, fit = _line(line, points, own.names)
        layers += drawn
        if fit is not None:
            fits.append((line.label, fit))
        if base is None:
            base = points
        elif (found := growth((base.x, base.y), (points.x, points.y))) is not None:
            growths.append((line.label, found))
    return layers, fits, growths


def _points(
    frame: Frame, line: ConditionGroup, own: ConditionGroup, metric: Metric, x: str
) -> Marks:
    steps = frame.steps(x)
    points = marks_of(line)
    for condition in own.conditions:
        at = steps.values[condition.levels[x]] if steps else 0.0
        for trial, value in (
            frame.values([condition.name], metric.name).get(condition.name, {}).items()
        ):
            label = joined(line.label, f"{x} {condition.levels[x]}", trial)
            points.add(at, value, label, [condition.name], [trial])
    return points


def _line(line: ConditionGroup, points: Marks, names: list[str]) -> tuple[list[Layer], Fit | None]:
    """Points and curve of one line.

    Args:
        names: the conditions that the points come from.
    """
    curve = marks_of(line)
    fit = fit_quadratic(points.x, points.y)
    if fit is not None:
        trials = [trial for one in points.trials for trial in one]
        floor = 0.0 if min(points.y) >= 0 else -math.inf
        for at, value, *ends in fit.curve:
            low, high = (None if end is None else max(end, floor) for end in ends)
            label = joined(line.label, f"R\u00b2 {fit.r2:.3f}", f"{fit.n} values")
            curve.add(at, max(value, floor), label, names, trials, (low, high))
    band = curve.layers("band") if fit is not None and fit.ends else []
    return [*band, *curve.layers("line"), *points.layers("points")], fit
