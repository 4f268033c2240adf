"""Least squares for condition + unit: the analysis of a randomised block design, gaps allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    from numpy.typing import NDArray

    Table = Mapping[tuple[str, Hashable], float]
    """(condition, unit) to the mean of log metric there; gaps are absent."""


@dataclass(frozen=True)
class TwoWayFit:
    """log value = condition + unit + error, fitted over the part connected to the reference.

    Attributes:
        effects: condition to its log difference from the reference condition.
        unscaled: condition to the variance of its difference, in units of the error variance.
        residual_ss: sum of squared residuals.
        df: residual degrees of freedom; (C-1)(U-1) where nothing is missing.
        units: number of units that entered.
        complete: every condition was observed in every unit.
    """

    effects: dict[str, float]
    unscaled: dict[str, float]
    residual_ss: float
    df: int
    units: int
    complete: bool

    @property
    def variance(self) -> float | None:
        """The error variance; None without degrees of freedom to estimate it."""
        return self.residual_ss / self.df if self.df > 0 else None


def fit_two_way(table: Table, reference: str, repeats: Collection[str] = ()) -> TwoWayFit:
    """Fit condition + unit by ordinary least squares (Montgomery, Design and Analysis of
    Experiments, randomized complete block design; with gaps, the general regression test).

    Conditions that share no unit with the reference, not even through others, are left out.

    Args:
        repeats: other names of the reference: they have its effect and none of their own.
    """
    whole = None if repeats else _complete(table, reference)
    if whole is not None:
        return whole
    conditions, units = _connected(table, reference)
    cells = [key for key in table if key[0] in conditions and key[1] in units]
    if not cells:
        return TwoWayFit({}, {}, 0.0, 0, 0, complete=True)
    others = sorted(conditions - {reference, *repeats})
    columns = {name: i for i, name in enumerate(others)}
    rows = {unit: len(others) + i for i, unit in enumerate(sorted(units, key=repr))}
    design = np.zeros((len(cells), len(others) + len(units)))
    response = np.empty(len(cells))
    for i, (condition, unit) in enumerate(cells):
        response[i] = table[condition, unit]
        design[i, rows[unit]] = 1.0
        if condition in columns:
            design[i, columns[condition]] = 1.0
    solution, inverse = _solve(design, response)
    residuals = response - design @ solution
    return TwoWayFit(
        effects={name: float(solution[i]) for name, i in columns.items()},
        unscaled={name: float(inverse[i, i]) for name, i in columns.items()},
        residual_ss=float(residuals @ residuals),
        df=len(cells) - design.shape[1],
        units=len(units),
        complete=len(cells) == len(conditions) * len(units),
    )


def _complete(table: Table, reference: str) -> TwoWayFit | None:
    """The fit where every condition was observed in every unit: differences of means, and residuals
    without the means of rows and columns (Montgomery, section 4.1); None elsewhere."""
    conditions = dict.fromkeys(condition for condition, _ in table)
    units = dict.fromkeys(unit for _, unit in table)
    if reference not in conditions or len(table) != len(conditions) * len(units):
        return None
    others = sorted(conditions.keys() - {reference})
    values = np.array([[table[name, unit] for unit in units] for name in (reference, *others)])
    values -= values[0, 0]  # so that no digits are lost in the squares
    means = values.mean(axis=1)
    residuals = values - means[:, None] - values.mean(axis=0) + values.mean()
    return TwoWayFit(
        effects=dict(zip(others, (means[1:] - means[0]).tolist(), strict=True)),
        unscaled=dict.fromkeys(others, 2 / len(units)),
        residual_ss=float((residuals**2).sum()),
        df=(len(conditions) - 1) * (len(units) - 1),
        units=len(units),
        complete=True,
    )


def _solve(
    design: NDArray[np.float64], response: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients and (X'X)^-1; X has full rank because the table is connected."""
    inverse = np.linalg.inv(design.T @ design).astype(np.float64)
    return inverse @ (design.T @ response), inverse


def _connected(table: Table, reference: str) -> tuple[set[str], set[Hashable]]:
    """Conditions and units that can be reached from the reference through observed cells."""
    conditions = {reference}
    units: set[Hashable] = set()
    while True:
        reached = {unit for condition, unit in table if condition in conditions}
        joined = {condition for condition, unit in table if unit in reached} | {reference}
        if reached == units and joined == conditions:
            return conditions, units
        conditions, units = joined, reached
