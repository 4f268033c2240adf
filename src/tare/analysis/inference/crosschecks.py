"""Other ways to the same answer, shown beside each interval: bootstrap and rank tests.

They never change a verdict. Where one contradicts the interval strongly, a check says so.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.analysis.inference.bootstrap import Resampled, hierarchical
from tare.analysis.inference.ranks import least_rank_sums, rank_sums, signed_ranks
from tare.analysis.model import CrossCheck

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.inference.averages import Average, How
    from tare.analysis.inference.estimates import Estimate
    from tare.analysis.inference.independent import Sample

STRONG = 0.001
"""P value that a contradicted test would have to reach."""
ROUNDING = 1e-9
WEAK = 0.2
"""P value at which the other test sees nothing."""


def check_blocks(found: Estimate, p: float | None) -> list[CrossCheck]:
    """Hierarchical bootstrap and Wilcoxon's signed-rank test over the units of analysis.

    Args:
        p: of the interval that is checked; None where it is conditional.
    """
    by_deployment = found.unit == "deployment"
    low, high = hierarchical(found.pairs, by_deployment=by_deployment)
    units = _units(found, by_deployment=by_deployment)
    return [
        _bootstrap(found, (low, high), "deployments, then blocks" if by_deployment else "blocks"),
        _ranks("Wilcoxon signed-rank", signed_ranks(units), 2.0 ** (1 - len(units)), p),
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
    Elteren's (1960), which adds up their rank sums."""
    interval = resampled.interval(average, how)
    cells = [(samples[b].values, samples[t].values) for b, t in average.cells]
    name = "Mann-Whitney" if len(cells) == 1 else "van Elteren (Mann-Whitney inside cells)"
    return [
        _bootstrap(found, interval, "repetitions inside each condition"),
        _ranks(name, rank_sums(cells), least_rank_sums(cells), p),
    ]


def _bootstrap(found: Estimate, interval: tuple[float, float], what: str) -> CrossCheck:
    low, high = found.interval(0.95)
    apart = interval[1] < low - ROUNDING or high + ROUNDING < interval[0]
    return CrossCheck(
        name=f"bootstrap of {what}",
        ci=(math.exp(interval[0]), math.exp(interval[1])),
        p=None,
        agrees=not apart,
    )


def _ranks(name: str, p: float, least: float, other: float | None) -> CrossCheck:
    """Contradiction: one sees clearly what the other does not see at all, though it could."""
    clash = other is not None and (
        (p < STRONG and other > WEAK) or (other < STRONG and p > WEAK and least < STRONG)
    )
    return CrossCheck(name=name, ci=None, p=p, agrees=not clash)


def _units(found: Estimate, *, by_deployment: bool) -> list[float]:
    if not by_deployment:
        return list(found.pairs.values())
    rounds: dict[int, list[float]] = {}
    for (round_, _), value in found.pairs.items():
        rounds.setdefault(round_, []).append(value)
    return [sum(values) / len(values) for values in rounds.values()]
