"""One treatment's effect with its interval, from log values per condition, round and block.

Reasons for the method, and coverage of the intervals in simulation: docs/decisions/0002.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from scipy import special

from tare.analysis.inference.twoway import TwoWayFit, fit_two_way

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

Value = TypeVar("Value")

Cell = tuple[int, int]
"""(round, block), both from 1."""

Logs = dict[str, dict[Cell, float]]
"""Condition to (round, block) to the natural logarithm of one metric."""

UnitKind = Literal["deployment", "block", "repetition"]

NOISIER = 0.05
"""Level of the F test by which a condition is found noisier than the others of its stratum: its
contrasts then get intervals from their own variance, if these are wider."""
FAR_NOISIER = 0.001
"""Level at which a condition is also kept out of the variance that the others share. At the former
level, selection would cut the upper end of the shared variance, and intervals would be too short
(coverage 93.5% instead of 95% in simulation)."""


@dataclass(frozen=True)
class Estimate:
    """The log-ratio of treatment over baseline, and what its uncertainty rests on.

    Attributes:
        log_ratio: estimate.
        se: its standard error; df: the degrees of freedom of that.
        units: independent units of analysis, of the given kind.
        slope: degrees of freedom that one more unit brings, for planning.
        unpooled: (se, df) of the plain paired t over the units, or of Welch's t where repetitions
            are independent; None with fewer than two.
        pairs: (round, block) to log-ratio inside that block.
        conditional: every unit comes from the same pair of deployments, so that platform and
            deployment cannot be told apart.
        method: one sentence.
    """

    log_ratio: float
    se: float
    df: float
    units: int
    unit: UnitKind
    slope: float
    unpooled: tuple[float, float] | None
    pairs: dict[Cell, float]
    conditional: bool
    method: str

    def interval(self, level: float) -> tuple[float, float]:
        """The t interval of the log-ratio at this confidence level."""
        return t_interval(self.log_ratio, self.se, self.df, level)


def t_interval(centre: float, se: float, df: float, level: float) -> tuple[float, float]:
    """Two-sided t interval."""
    half = float(special.stdtrit(df, 0.5 + level / 2)) * se
    return centre - half, centre + half


def by_unit(cells: Mapping[Cell, Value], *, by_deployment: bool) -> dict[Hashable, list[Value]]:
    """Unit to the values of its blocks: a unit is a round of one deployment, else each block."""
    units: dict[Hashable, list[Value]] = {}
    for cell, value in cells.items():
        units.setdefault(cell[0] if by_deployment else cell, []).append(value)
    return units


@dataclass(frozen=True)
class Stratum:
    """The baseline and everything compared with it, on one metric.

    Attributes:
        logs: condition to (round, block) to log value.
        unit: what counts as one independent observation.
        table: (condition, unit) to the mean of the log values there.
        noisiness: condition to the p value of its variance being no larger than the others'.
        quiet: the table without conditions that are far noisier than the others.
        fit: condition + unit over the quiet table.
        single: all blocks of a condition come from one deployment.
    """

    baseline: str
    logs: Mapping[str, Mapping[Cell, float]]
    unit: UnitKind
    table: dict[tuple[str, Hashable], float]
    noisiness: dict[str, float]
    quiet: dict[tuple[str, Hashable], float]
    fit: TwoWayFit
    single: bool

    def noisier(self, treatment: str) -> list[str]:
        """Which of baseline and treatment vary more than the other conditions."""
        pair = (self.baseline, treatment)
        return [name for name in pair if self.noisiness.get(name, 1.0) < NOISIER]

    def differences(self, treatment: str, repeats: Collection[str] = ()) -> dict[Hashable, float]:
        """Unit to treatment minus baseline, or minus its mean with its repeats, if both exist."""
        found = {}
        for name, unit in self.table:
            if name == self.baseline and (treatment, unit) in self.table:
                beside = [(one, unit) for one in repeats if (one, unit) in self.table]
                base = [self.table[key] for key in ((name, unit), *beside)]
                found[unit] = self.table[treatment, unit] - float(np.mean(base))
        return found


def make_stratum(
    logs: Mapping[str, Mapping[Cell, float]], baseline: str, *, by_deployment: bool
) -> Stratum:
    """Reduce one metric of a stratum to its units of analysis and pool what can be pooled.

    Args:
        by_deployment: one life of a cluster serves all blocks of its round, so that the round is
            the unit of analysis; else every block has clusters of its own.
    """
    rounds = {cell[0] for cell in logs.get(baseline, {})}
    single = by_deployment and len(rounds) < 2
    unit: UnitKind = "deployment" if by_deployment and not single else "block"
    table = _unit_means(logs, baseline) if unit == "deployment" else _by_block(logs)
    noisiness = _noisiness(table, baseline)
    far = {name for name, p in noisiness.items() if p < FAR_NOISIER and name != baseline}
    quiet = {key: y for key, y in table.items() if key[0] not in far}
    fit = fit_two_way(quiet, baseline)
    return Stratum(baseline, logs, unit, table, noisiness, quiet, fit, single)


def estimate(
    stratum: Stratum,
    treatment: str,
    *,
    shared: bool = False,
    alike: bool = True,
    repeats: Collection[str] = (),
) -> Estimate | None:
    """Estimate one contrast of the stratum.

    Args:
        shared: the treatment was served by the very deployments of the baseline.
        alike: deployments of both sides serve equally many conditions. Otherwise a condition of one
            side gets a smaller share of its server's time than one of the other side, and its noise
            is not the stratum's: the interval is that of its own paired differences.
        repeats: conditions with the baseline's own setup, on deployments of their own. The
            treatment is compared with the mean of all of them, which a single deployment's
            oddity moves less: one repeat reduces the variance of a difference from 2 to 1.5.

    Returns:
        None where fewer than two units hold both conditions.
    """
    repeats = [name for name in repeats if name in stratum.logs and name != treatment]
    pairs = _pairs(stratum, treatment, repeats)
    own = list(stratum.differences(treatment, repeats).values())
    if len(own) < 2:
        return None
    paired = float(np.std(own, ddof=1)) / math.sqrt(len(own)), len(own) - 1
    conditional = stratum.single and not shared
    fit = fit_two_way(stratum.quiet, stratum.baseline, repeats) if repeats else stratum.fit
    pooled = _pooled(fit, treatment) if alike else None
    plain = pooled is None or (stratum.noisier(treatment) and _half(*paired) > _half(*pooled))
    se, df = paired if plain or pooled is None else pooled
    why = "" if alike else "the servers of the two sides serve different numbers of conditions"
    words = _words(
        stratum, None if plain else fit, treatment, repeats, len(own), df, conditional, why
    )
    return Estimate(
        log_ratio=float(np.mean(own)) if plain else fit.effects[treatment], se=se, df=df,
        units=len(own), unit=stratum.unit, slope=1 if plain else len(fit.effects),
        unpooled=paired, pairs=pairs, conditional=conditional, method=words,
    )  # fmt: skip


def _pairs(stratum: Stratum, treatment: str, repeats: Collection[str]) -> dict[Cell, float]:
    """Inside each block: treatment minus baseline, or minus its mean with its repeats."""
    base, treated = (stratum.logs.get(name, {}) for name in (stratum.baseline, treatment))
    beside = [stratum.logs[name] for name in repeats]
    return {
        cell: treated[cell] - float(np.mean([base[cell], *(b[cell] for b in beside if cell in b)]))
        for cell in sorted(base.keys() & treated.keys())
    }


def _pooled(fit: TwoWayFit, treatment: str) -> tuple[float, int] | None:
    """Standard error and df from the pooled variance, where the treatment shares it."""
    if treatment not in fit.effects or fit.variance is None:
        return None
    return math.sqrt(fit.variance * fit.unscaled[treatment]), fit.df


def _half(se: float, df: int) -> float:
    """Half the width of the 95% interval."""
    return se * float(special.stdtrit(df, 0.975))


def _words(
    stratum: Stratum,
    fit: TwoWayFit | None,
    treatment: str,
    repeats: Collection[str],
    units: int,
    df: int,
    conditional: bool,
    why_apart: str,
) -> str:
    """One sentence on how the interval was made; without a fit from the paired differences."""
    conditions = len(stratum.fit.effects) + 1
    how = f"t interval over {units} {stratum.unit}s, {df} degrees of freedom"
    if fit is None:
        noisier = stratum.noisier(treatment)
        how = f"paired {how}"
        if noisier:
            why_apart = f"{' and '.join(noisier)} varies more than the others"
        if why_apart:
            how += f", not pooled, because {why_apart}"
    elif conditions == 2:
        how += ", paired"
    else:
        how += f", variance pooled over {conditions} conditions in a two-way analysis of variance"
    if repeats:
        how += f"; compared with the mean of {' and '.join((stratum.baseline, *repeats))}"
        how += ", which are the same setup"
    if fit is not None and not fit.complete:
        how += " by least squares, because some units lack a condition"
    if conditional:
        how += (
            "; conditional on these very deployments: with one deployment per condition, "
            "platform and deployment cannot be told apart"
        )
    return how + "."


def _noisiness(table: dict[tuple[str, Hashable], float], baseline: str) -> dict[str, float]:
    """Per condition: an F test of its variance being no larger than that of the rest.

    Leaving a condition out of the two-way fit lowers the residual sum of squares by the part of
    the contrast between it and the mean of all others. That part is independent of the rest, and
    the ratio of their mean squares is F distributed where all variances are equal. With gaps in
    the table this is an approximation.
    """
    whole = fit_two_way(table, baseline)
    conditions = {baseline, *whole.effects}
    found = {}
    for name in sorted(conditions):
        rest_of = {key: y for key, y in table.items() if key[0] != name}
        reference = baseline if name != baseline else min(conditions - {name}, default=baseline)
        rest = fit_two_way(rest_of, reference)
        own_df, own_ss = whole.df - rest.df, whole.residual_ss - rest.residual_ss
        connected = len(rest.effects) == len(conditions) - 2
        if not connected or own_df <= 0 or rest.variance is None or rest.variance <= 0:
            continue
        found[name] = float(special.fdtrc(own_df, rest.df, own_ss / own_df / rest.variance))
    return found


def _by_block(logs: Mapping[str, Mapping[Cell, float]]) -> dict[tuple[str, Hashable], float]:
    return {(name, cell): y for name, cells in logs.items() for cell, y in cells.items()}


def _unit_means(
    logs: Mapping[str, Mapping[Cell, float]], baseline: str
) -> dict[tuple[str, Hashable], float]:
    """Per condition and round: the mean over blocks, corrected for blocks that were missed.

    Within a round, condition + block is fitted. With no trial missing, the fitted differences are
    those of the plain means. With some missing, no condition gains from having skipped a block in
    which everything was slow. The round's own level cancels in every contrast.
    """
    rounds: dict[int, dict[tuple[str, Hashable], float]] = defaultdict(dict)
    for name, cells in logs.items():
        for (round_, block), y in cells.items():
            rounds[round_][name, block] = y
    means: dict[tuple[str, Hashable], float] = {}
    for round_, table in rounds.items():
        present = {name for name, _ in table}
        reference = baseline if baseline in present else min(present)
        fit = fit_two_way(table, reference)
        means[reference, round_] = 0.0
        means |= {(name, round_): y for name, y in fit.effects.items()}
    return means
