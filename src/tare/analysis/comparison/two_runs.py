"""Two runs share no block: means over each one's independent units, and the interval of B over A.

Welch's t is used, with separate variances, because the two runs may be of two machines. Variances
are not pooled over the conditions of a run: conditions of one round share its state.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.catalogue import NO_RATIO
from tare.analysis.inference.estimates import Estimate
from tare.analysis.inference.twoway import fit_two_way
from tare.analysis.inference.verdicts import LEAST_SE

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from tare.analysis.inference.estimates import Cell, UnitKind
    from tare.analysis.inference.twoway import Table
    from tare.analysis.model import Analysis


@dataclass(frozen=True)
class ConditionSide:
    """One condition of one run on one metric.

    Attributes:
        logs: log value per independent unit (the mean over the unit's blocks). All are shifted
            alike, so that their mean is over all units of the run, also the units without a value.
        unit: what a unit is.
        single: the condition had one deployment only, whose blocks are the units.
    """

    logs: list[float]
    unit: UnitKind
    single: bool

    @property
    def mean(self) -> float:
        return float(np.mean(self.logs))

    @property
    def squared_se(self) -> float:
        return float(np.var(self.logs, ddof=1)) / len(self.logs)


def sides_of(analysis: Analysis) -> dict[str, dict[str, ConditionSide]]:
    """Metric to condition to its independent units.

    With one life of a cluster per round (`design.fresh: deployment`) a unit is a round: the mean of
    its blocks' log values. Else every block has a cluster of its own and is a unit. Every
    repetition of imported files is a unit, too.
    """
    unit = unit_of(analysis)
    tables: dict[str, dict[tuple[str, Cell], float]] = defaultdict(dict)
    for trial in analysis.trials:
        for metric, value in trial.values.items():
            if trial.status == "done" and 0 < value < math.inf and metric not in NO_RATIO:
                tables[metric][trial.condition, (trial.round, trial.block)] = math.log(value)
    return {metric: _sides(table, unit) for metric, table in tables.items()}


def unit_of(analysis: Analysis) -> UnitKind:
    """What is independent in the run: every trial of imported files, else as the design says."""
    if analysis.imported:
        paired = any(effect.unit_of_analysis == "block" for effect in analysis.effects)
        return "block" if paired else "repetition"
    study = analysis.provenance.get("study")
    design = study.get("design") if isinstance(study, dict) else None
    fresh = design.get("fresh") if isinstance(design, dict) else None
    return "deployment" if fresh in (None, "deployment") else "block"


def _sides(blocks: Mapping[tuple[str, Cell], float], unit: UnitKind) -> dict[str, ConditionSide]:
    """All conditions of a run on one metric.

    Args:
        blocks: (condition, block) to log value.
    """
    table: dict[tuple[str, Hashable], float] = {}
    rounds: dict[int, dict[tuple[str, Hashable], float]] = defaultdict(dict)
    for (name, cell), log in blocks.items():
        table[name, cell] = rounds[cell[0]][name, cell] = log
    if unit == "repetition":  # equal numbers do not mean measured side by side
        return {name: ConditionSide(own, unit, False) for name, own in _by_condition(table).items()}
    if unit == "block":
        return _levelled(table, unit, single=False)
    means: dict[tuple[str, Hashable], float] = {
        (name, round_): log for round_, own in rounds.items() for name, log in _means(own).items()
    }
    found = _levelled(means, unit, single=False)
    if any(len(side.logs) < 2 for side in found.values()):
        single = _levelled(table, "block", single=True)
        found |= {name: single[name] for name, side in found.items() if len(side.logs) < 2}
    return found


def _levelled(table: Table, unit: UnitKind, *, single: bool) -> dict[str, ConditionSide]:
    """Every condition's logs around its mean over all units."""
    means = _means(table)
    return {
        name: ConditionSide([log + means[name] - float(np.mean(own)) for log in own], unit, single)
        for name, own in _by_condition(table).items()
    }


def _by_condition(table: Table) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for (name, _), log in table.items():
        found[name].append(log)
    return found


def _means(table: Table) -> dict[str, float]:
    """Every condition's mean log value over all units, also those that it missed.

    Condition + unit is fitted, as inside a run (docs/decisions/0002), so that no condition gains
    from missing a unit in which everything was slow. Where nothing is missing these are plain
    means. Conditions that have no unit in common, not even through others, are fitted apart.
    """
    found: dict[str, float] = {}
    rest = dict(table)
    while rest:
        first = next(iter(rest))[0]
        effects = {first: 0.0} | fit_two_way(rest, first).effects
        units: dict[Hashable, list[float]] = defaultdict(list)
        for (name, unit), log in rest.items():
            if name in effects:
                units[unit].append(log - effects[name])
        level = float(np.mean([np.mean(own) for own in units.values()]))
        found |= {name: level + effect for name, effect in effects.items()}
        rest = {key: log for key, log in rest.items() if key[0] not in effects}
    return found


def welch(a: ConditionSide, b: ConditionSide) -> Estimate | None:
    """B over A: Welch's t (1947), variances apart, Satterthwaite's degrees of freedom.

    Returns:
        None where a side has fewer than two units.
    """
    if min(len(a.logs), len(b.logs)) < 2:
        return None
    se, df = combined((a.squared_se, len(a.logs) - 1), (b.squared_se, len(b.logs) - 1))
    conditional = a.single or b.single
    how = (
        f"Welch's t interval over {len(a.logs)} {a.unit}s in A and {len(b.logs)} {b.unit}s in B, "
        f"{df:.1f} degrees of freedom"
    )
    if conditional:
        how += (
            "; conditional on these very deployments: with one deployment on a side, what differs "
            "between the runs and the deployment cannot be told apart"
        )
    units = max(2, round(2 / (1 / len(a.logs) + 1 / len(b.logs))))  # harmonic mean
    return between(b.mean - a.mean, (se, df), units, a.unit, conditional, how + ".")


def between(
    log_ratio: float,
    spread: tuple[float, float],
    units: int,
    unit: UnitKind,
    conditional: bool,
    method: str,
) -> Estimate:
    """An estimate without pairs, of two independent sides.

    Args:
        spread: (standard error, degrees of freedom).
        units: per side. One more on each side brings two degrees of freedom.
    """
    se, df = spread
    return Estimate(
        log_ratio=log_ratio, se=se, df=df, units=units, unit=unit, slope=2, unpooled=None,
        pairs={}, conditional=conditional, method=method,
    )  # fmt: skip


def combined(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """Standard error and degrees of freedom of a difference of independent estimates.

    Args:
        a, b: (squared standard error, its degrees of freedom).

    Satterthwaite (1946): df = (va + vb)^2 / (va^2 / dfa + vb^2 / dfb).
    """
    (va, dfa), (vb, dfb) = a, b
    total = va + vb
    if total <= LEAST_SE**2:
        return LEAST_SE, min(dfa, dfb)
    share = va**2 / dfa + vb**2 / dfb
    return math.sqrt(total), total**2 / share if share > 0 else math.inf
