"""Other methods for the same answer, shown beside each interval: bootstrap and rank tests.

They never change a verdict. Where one contradicts the interval, a check says so.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from tare.analysis.inference.bootstrap import Resampled, hierarchical
from tare.analysis.inference.estimates import by_unit
from tare.analysis.inference.ranks import least_rank_sums, rank_sums, signed_ranks
from tare.analysis.model import CrossCheck

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.inference.averages import Average, How
    from tare.analysis.inference.estimates import Estimate
    from tare.analysis.inference.independent import Sample
    from tare.analysis.model import Effect

STRONG = 0.001
"""P value that a contradicted test would have to reach."""
ROUNDING = 1e-9
WEAK = 0.2
"""P value at which the other test sees nothing."""
NARROWER = 1 / 3
"""The bootstrap's interval contradicts a difference if it holds no change and the interval of the
difference is narrower by this share. In simulation (tests/analysis/crosschecks_simulation.py, 5
conditions, 3 deployments of 4 blocks) that happens in 1% of comparisons at most where all
conditions vary alike, and in 4 of the 11% that come out different by chance where the compared one
varies 4 times as much. The unpooled interval is no such check: it is as wide and without the
difference in up to 28% and in 5%, as a few units have few degrees of freedom."""
ENOUGH = 20
"""With so many repetitions any rank test here can contradict an interval."""


def check_blocks(found: Estimate, p: float | None) -> list[CrossCheck]:
    """Hierarchical bootstrap and Wilcoxon's signed-rank test over the units of analysis.

    Args:
        p: of the interval that is checked; None where it is conditional.
    """
    by_deployment = found.unit == "deployment"
    low, high = hierarchical(found.pairs, by_deployment=by_deployment)
    rounds = by_unit(found.pairs, by_deployment=by_deployment).values()
    units = [sum(values) / len(values) for values in rounds]
    return [
        _bootstrap(found, (low, high), "deployments, then blocks" if by_deployment else "blocks"),
        _ranks("Wilcoxon signed-rank", signed_ranks(units), _least_signed_ranks(len(units)), p),
    ]


def check_independent(
    found: Estimate,
    average: Average,
    samples: Mapping[str, Sample],
    resampled: Resampled,
    how: How,
    p: float | None,
) -> list[CrossCheck]:
    """Bootstrap inside each condition, and Mann and Whitney's test; over several cells van
    Elteren's (1960), which adds up the cells' rank sums."""
    interval = resampled.interval(average, how)
    cells = [(samples[b].values, samples[t].values) for b, t in average.cells]
    name = "Mann-Whitney" if len(cells) == 1 else "van Elteren (Mann-Whitney inside cells)"
    return [
        _bootstrap(found, interval, "repetitions inside each condition"),
        _ranks(name, rank_sums(cells), least_rank_sums(cells), p),
    ]


def could_contradict(effect: Effect) -> bool:
    """Whether there are units enough for any cross-check to contradict the interval.

    A rank test could from 11 units on, or from 7 repetitions of both conditions. The bootstrap
    could if the interval rests on more than the bootstrap draws from (other conditions) or on less
    (units without the blocks in them). Drawn from the very values of a t interval, it is narrower.
    """
    units = effect.deployments
    if effect.unit_of_analysis == "repetition":
        alike = (0.0,) * min(units, ENOUGH)
        return least_rank_sums([(alike, alike)] * effect.cells) < STRONG
    ranked = effect.p is not None and _least_signed_ranks(units) < STRONG
    return ranked or effect.df > units - 1 or effect.blocks > units


def judged(effect: Effect) -> list[CrossCheck]:
    """An effect's cross-checks once it has its verdict, which some contradict.

    A cross-check whose interval lies apart from the effect's contradicts it. So does a bootstrap
    that holds no change where the effect is called a difference, if the effect's interval is
    narrower by `NARROWER`. An effect that is not called a difference claims nothing to contradict.
    A/A controls, of which one in 20 is called a difference by chance, have a check of their own.
    """
    if effect.aa or not effect.verdict.startswith("different"):
        return effect.crosschecks
    return [
        one.model_copy(update={"agrees": False})
        if one.ci is not None and _loses(effect.ci, one.ci)
        else one
        for one in effect.crosschecks
    ]


def _loses(own: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether another interval holds no change, and `own` is narrower by `NARROWER`."""
    return other[0] <= 1 <= other[1] and _width(own) <= (1 - NARROWER) * _width(other)


def _width(ci: tuple[float, float]) -> float:
    """The width of a ratio's interval on the log scale."""
    return math.log(ci[1]) - math.log(max(ci[0], sys.float_info.min))


def _bootstrap(found: Estimate, interval: tuple[float, float], what: str) -> CrossCheck:
    low, high = found.interval(0.95)
    apart = interval[1] < low - ROUNDING or high + ROUNDING < interval[0]
    return CrossCheck(
        name=f"bootstrap of {what}",
        ci=(math.exp(interval[0]), math.exp(interval[1])),
        p=None,
        agrees=not apart,
    )


def _least_signed_ranks(units: int) -> float:
    """The smallest two-sided p of Wilcoxon's test of so many units."""
    return float(2.0 ** (1 - units))


def _ranks(name: str, p: float, least: float, other: float | None) -> CrossCheck:
    """Contradiction: one test sees clearly what the other, though it could, does not see at all."""
    clash = other is not None and (
        (p < STRONG and other > WEAK) or (other < STRONG and p > WEAK and least < STRONG)
    )
    return CrossCheck(name=name, ci=None, p=p, agrees=not clash)
