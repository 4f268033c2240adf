"""Differences of counts per operation, with intervals from the estimator that the effects use.

An effect is a ratio, and log values go into its estimator. A CPU time that divides into parts
needs differences, which add up: here the values themselves go in. The estimator is linear, so with
no trial missing the differences of the parts add up exactly to the difference of the whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.inference.contrast_estimates import Strata
from tare.analysis.inference.estimates import by_unit, t_interval
from tare.analysis.inference.independent import summed

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from tare.analysis.inference.contrast_estimates import Rules
    from tare.analysis.inference.contrasts import Contrast, Contrasts
    from tare.analysis.inference.estimates import Cell, Logs, UnitKind
    from tare.analysis.trials import Trial

LEVEL = 0.95


@dataclass(frozen=True)
class CountDifference:
    """Treatment minus baseline of one count.

    Attributes:
        sides: means of baseline and treatment over the trials that entered.
        units: independent units, of the given kind.
        by_unit: unit to the difference inside it, where baseline and treatment are pairs.
        conditional: one deployment only.
    """

    sides: tuple[float, float]
    value: float
    se: float
    df: float
    units: int
    unit: UnitKind
    by_unit: Mapping[Hashable, float]
    conditional: bool

    def interval(self, comparisons: int = 1) -> tuple[float, float]:
        """The 95% interval; with several comparisons, one that holds for all (Bonferroni)."""
        return t_interval(self.value, self.se, self.df, 1 - (1 - LEVEL) / comparisons)

    def clear(self, comparisons: int = 1) -> bool:
        """The interval excludes 0."""
        low, high = self.interval(comparisons)
        return low > 0 or high < 0


def tables_of(trials: Iterable[Trial]) -> dict[str, Logs]:
    """Count to condition to (round, block) to its value; for a repeated trial the later attempt.

    The CPU per operation of machine and database is included: these are the wholes.
    """
    tables: dict[str, Logs] = {}
    for trial in sorted(trials, key=lambda t: t.manifest.attempt):
        for name, value in trial.beside.items():
            if math.isfinite(value):
                tables.setdefault(name, {}).setdefault(trial.condition, {})[trial.cell] = value
    return tables


class Differences:
    """The differences of one count, contrast by contrast."""

    def __init__(self, table: Logs, contrasts: Contrasts, rules: Rules) -> None:
        self._table = table
        self._contrasts = contrasts
        self._rules = rules
        self._strata = Strata(table, contrasts, rules)

    def of(self, contrast: Contrast) -> CountDifference | None:
        """None where either side has fewer than two units."""
        if self._rules.independent:
            return self._independent(contrast)
        repeats = self._rules.repeats(contrast, self._contrasts)
        stratum, treatment = self._strata.of(contrast, repeats), contrast.treatment
        if stratum is None:
            return None
        found = self._rules.estimate(stratum, contrast, repeats)
        if found is None:
            return None
        treated = self._table[treatment]
        sides = (
            _mean(treated[cell] - difference for cell, difference in found.pairs.items()),
            _mean(treated[cell] for cell in found.pairs),
        )
        return CountDifference(
            sides, found.log_ratio, found.se, found.df, found.units, found.unit,
            stratum.differences(treatment, repeats), found.conditional,
        )  # fmt: skip

    def _independent(self, contrast: Contrast) -> CountDifference | None:
        """Welch's t: repetitions are no pairs."""
        names = contrast.baseline, contrast.treatment
        first, second = (self._repetitions(self._table.get(n, {})) for n in names)
        if len(first) < 2 or len(second) < 2:
            return None
        error = summed([(float(np.var(s, ddof=1)) / len(s), len(s) - 1) for s in (first, second)])
        sides = float(first.mean()), float(second.mean())
        return CountDifference(
            sides, sides[1] - sides[0], error.se, error.df,
            min(len(first), len(second)), "repetition", {}, conditional=False,
        )  # fmt: skip

    def _repetitions(self, cells: Mapping[Cell, float]) -> np.ndarray:
        """Independent values: trials of one life of a cluster are related, and enter as a mean."""
        units = by_unit(cells, by_deployment=self._rules.by_deployment)
        return np.array([_mean(own) for own in units.values()])


def share(part: CountDifference, whole: CountDifference) -> tuple[float, float, float] | None:
    """The part's share of the whole's difference, and its 95% interval.

    It is a ratio of two means over the same units. Its standard error is that of the residuals
    part - share * whole (Cochran, Sampling Techniques, 1977, section 6.3). It holds where the
    whole is well away from 0, which the caller ensures.

    Returns:
        None with fewer than three units in which both are known.
    """
    units = [unit for unit in part.by_unit if unit in whole.by_unit]
    if len(units) < 3 or whole.value == 0:
        return None
    found = part.value / whole.value
    residuals = [part.by_unit[unit] - found * whole.by_unit[unit] for unit in units]
    se = float(np.std(residuals, ddof=1)) / math.sqrt(len(units)) / abs(whole.value)
    return found, *t_interval(found, se, len(units) - 1, LEVEL)


def correlation(
    first: Mapping[Cell, float], second: Mapping[Cell, float], least: int
) -> float | None:
    """Pearson's r over blocks, inside rounds: differences between deployments are removed.

    Returns:
        None with fewer than `least` degrees of freedom (pairs less rounds), or no variation.
    """
    cells = sorted(first.keys() & second.keys())
    rounds = {cell[0] for cell in cells}
    if len(cells) - len(rounds) < least:
        return None
    x, y = (_centred({cell: side[cell] for cell in cells}) for side in (first, second))
    spread = math.sqrt(float(np.dot(x, x)) * float(np.dot(y, y)))
    if spread == 0:
        return None
    return max(-1.0, min(1.0, float(np.dot(x, y)) / spread))


def _centred(values: Mapping[Cell, float]) -> np.ndarray:
    rounds = by_unit(values, by_deployment=True)
    means = {round_: _mean(own) for round_, own in rounds.items()}
    return np.array([value - means[cell[0]] for cell, value in values.items()])


def _mean(values: Iterable[float] | Sequence[float]) -> float:
    own = list(values)
    return sum(own) / len(own)
