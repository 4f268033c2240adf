"""Whether a difference grows along the axis, by two quadratic curves: Truyen 2018, scalability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.model import Grid
from tare.study.show_rules import LEAST_STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.model.exhibits import Cell

Ratio = tuple[float, float, float]
"""A ratio with the ends of its 95% interval."""
NOISELESS = 1e-18
"""Mean squared residual of logarithms below which only rounding is left to test against."""


@dataclass(frozen=True)
class Growth:
    """The ratio of two curves along the axis.

    Attributes:
        start, end: the ends of the axis where both curves have values.
        first, last: ratio to the baseline at these ends.
        grown: the last over the first; 1 is the same cost everywhere.
        p: of the F test that the ratio is the same everywhere; None where nothing scatters.
        n: number of values of both.
    """

    start: float
    end: float
    first: Ratio
    last: Ratio
    grown: Ratio
    p: float | None
    n: int


def growth(
    base: tuple[Sequence[float], Sequence[float]],
    treated: tuple[Sequence[float], Sequence[float]],
) -> Growth | None:
    """Compare two series of (x, y) by a quadratic curve each, through the logarithms of y.

    log y = a + b x + c x^2 (ordinary least squares), with separate a, b and c for each series and
    one residual variance. The ratio is the same at every x exactly where the two series share b and
    c. The F test of the general linear hypothesis (2 degrees of freedom) judges this.
    Source: Fox (2016), Applied Regression Analysis, chapters 7 and 9.

    Returns:
        None with fewer than three different x on a side, no common stretch of the axis, values
        without a logarithm, or no value left to judge the scatter by.
    """
    if min(len(set(x)) for x, _ in (base, treated)) < LEAST_STEPS:
        return None
    x = np.concatenate([np.asarray(one, dtype=float) for one, _ in (base, treated)])
    y = np.concatenate([np.asarray(one, dtype=float) for _, one in (base, treated)])
    start = max(min(one) for one, _ in (base, treated))
    end = min(max(one) for one, _ in (base, treated))
    if start >= end or float(y.min()) <= 0:
        return None
    from statsmodels.regression.linear_model import OLS  # 100 MB, and few studies ask for it

    # centred and scaled, so that the columns are of the same size
    middle, half = (start + end) / 2, (end - start) / 2
    z = (x - middle) / half
    second = np.repeat([0.0, 1.0], [len(base[0]), len(treated[0])])
    curve = np.column_stack([np.ones_like(z), z, z * z])
    model = OLS(np.log(y), np.hstack([curve, curve * second[:, None]])).fit()
    if model.df_resid < 1:
        return None
    first, last = np.array([0, 0, 0, 1, -1.0, 1]), np.array([0, 0, 0, 1, 1.0, 1])
    tests = model.t_test(np.vstack([first, last, last - first]))
    at_first, at_last, grown = (
        _ratio(value, ends) for value, ends in zip(tests.effect, tests.conf_int(), strict=True)
    )
    scatters = model.mse_resid > NOISELESS
    p = float(model.f_test(np.eye(6)[4:]).pvalue) if scatters else None
    return Growth(start, end, at_first, at_last, grown, p, len(x))


def _ratio(log: float, ends: Sequence[float]) -> Ratio:
    value, low, high = np.exp([log, *ends])
    return float(value), float(low), float(high)


def growth_grid(
    rows: Sequence[tuple[Sequence[Cell], Growth]], panels: Sequence[str], x: str, base: str
) -> Grid:
    """The table of growths.

    Args:
        rows: levels of the panels, metric and line; then the growth.
        base: the line that the others are compared with.
    """
    columns = [*panels, "Metric", "Line", f"From {x}", f"To {x}"]
    units = [""] * (len(panels) + 2) + ["count", "count"]
    for name in ("Ratio at the first", "Ratio at the last", "Growth"):
        columns += [name, f"{name}, 95% low", f"{name}, 95% high"]
        units += ["number"] * 3
    columns += ["p", "Values"]
    units += ["number", "count"]
    note = (
        f"Ratio to {base} of two quadratic curves through the logarithms of the values; growth is "
        f"the last ratio over the first, 1 where the difference costs the same share at every "
        f"{x}. p: F test that it does; trials count as independent, and p is not corrected for "
        "the number of curves."
    )
    cells: list[list[Cell]] = [
        [*heads, g.start, g.end, *g.first, *g.last, *g.grown, g.p, float(g.n)] for heads, g in rows
    ]
    title = f"Does the difference from {base} grow with {x}?"
    return Grid(title=title, columns=columns, units=units, rows=cells, notes=[note])
