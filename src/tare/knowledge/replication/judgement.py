"""The verdict on a finding: by the mean of its pairs of conditions, or by each of them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.knowledge.replication.agreement import further, judge
from tare.knowledge.replication.measured import ComparisonRequest
from tare.knowledge.replication.model import Further, plural_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.model import Effect
    from tare.knowledge.replication.model import Agreement, Band
    from tare.knowledge.schema import Finding

_GRAVEST: tuple[Agreement, ...] = ("disagrees", "undecided", "agrees")


@dataclass(frozen=True)
class Judgement:
    """A verdict and what it rests on.

    Attributes:
        effect: the effect that is shown: of several cases the one that most contradicts agreement.
        notes: how many cases were judged, and how.
    """

    effect: Effect
    verdict: Agreement
    further: Further | None
    notes: tuple[str, ...] = ()


def cases_of(finding: Finding, wanted: ComparisonRequest) -> list[ComparisonRequest]:
    """The comparisons by which the finding is judged: its mean, or one for each pair.

    A range, or a bound such as "up to 29%", holds for every case. A mean of the cases would lie
    inside almost by itself.
    """
    if not wanted.rows:
        return []
    effect = finding.effect
    if effect is None or effect.how != "range" or effect.mean_of:
        return [wanted]
    return [ComparisonRequest(wanted.metric, ((pair,),)) for pair in wanted.pairs]


def judgement(band: Band, effects: Sequence[Effect], cases: int) -> Judgement | None:
    """The verdict on all cases: each has to agree, and one disagreement is enough.

    Args:
        effects: effects of the cases with an interval.
        cases: number of cases.

    Returns:
        None where no case has an interval.
    """
    if not effects:
        return None
    verdicts = [judge(band, one.ci) for one in effects]
    verdict = next(one for one in _GRAVEST if one in verdicts)
    gravest = [one for one, own in zip(effects, verdicts, strict=True) if own == verdict]
    shown = max(gravest, key=lambda one: _outside(band, one.ratio))
    needed = _most([further(band, one) for one in gravest]) if verdict == "undecided" else None
    return Judgement(shown, verdict, needed, tuple(_notes(shown, verdicts, cases)))


def _notes(shown: Effect, verdicts: Sequence[Agreement], cases: int) -> list[str]:
    if cases == 1:
        return []
    counted = Counter(verdicts)
    counts = [f"{counted[one]} {plural_of(one)}" for one in _GRAVEST if counted[one]]
    if missing := cases - len(verdicts):
        counts.append(f"{missing} without an interval")
    return [f"{cases} cases, each judged by itself: {', '.join(counts)}; shown: {shown.treatment}"]


def _most(needed: Sequence[Further]) -> Further:
    """The need that decides all of them."""
    units = [one.units for one in needed if one.units is not None]
    unit = needed[0].unit
    return Further(units=max(units) if len(units) == len(needed) else None, unit=unit)


def _outside(band: Band, ratio: float) -> float:
    """How far the ratio lies outside of the band, in logs; negative: inside."""
    below = math.log(band.low / ratio) if band.low > 0 else -math.inf
    above = math.log(ratio / band.high) if band.high < math.inf else -math.inf
    return max(below, above)
