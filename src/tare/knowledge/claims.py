"""What a finding claims: a number, a bound, no difference or a direction; and contradictions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tare.knowledge.consistency import Span, as_printed

if TYPE_CHECKING:
    from tare.knowledge.schema import Discrepancy, Finding

_COARSE = 0.05
"""Ratios that lie apart by more than the usual margin are not shown as one with all its digits."""
Kind = Literal["number", "bound", "none", "direction", "summary"]


@dataclass(frozen=True)
class Claim:
    """The part of a finding that can be shown and pooled.

    Attributes:
        kind: only numbers are averaged. bound: a stated range, one end of it, or steps of a
            measurement, inside of which any ratio may lie; none: no significant difference;
            summary: of other findings, which are shown themselves.
        low, high: ends of a bound; None: open.
        elsewhere: another number of the effect in the source, as a ratio, and its place; the
            farthest of several.
    """

    kind: Kind
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    direction: str = ""
    elsewhere: tuple[float, str] | None = None


def claim_of(finding: Finding) -> Claim | None:
    """The finding's claim; None where it only states a variability."""
    effect = finding.effect
    if effect is None:
        return None
    told_of_others = effect.how == "direction" and effect.direction == "varies"
    if effect.mean_of or effect.extreme_of or told_of_others:
        return Claim("summary", effect.ratio, direction=effect.direction)
    if effect.how == "range":
        return Claim("bound", None, effect.low, effect.high, effect.direction)
    if effect.ratio is None:
        kind: Kind = "none" if effect.direction == "none" else "direction"
        return Claim(kind, direction=effect.direction)
    if finding.values.step is not None:
        low, high = hidden(finding, effect.ratio)
        return Claim("bound", effect.ratio, low, high, effect.direction)
    if others := _other_numbers(finding, effect.ratio):
        ends = effect.ratio, *(other for other, _ in others)
        farthest = max(others, key=lambda one: abs(one[0] - ends[0]))
        return Claim("bound", effect.ratio, min(ends), max(ends), effect.direction, farthest)
    return Claim("number", effect.ratio, direction=effect.direction)


def contradicted(finding: Finding) -> bool:
    """Whether another statement of the same source contradicts the effect.

    A wrong effect size (Cohen's d) leaves the means behind it as they are, and a wrong caption the
    text. Two numbers of one direction are a range, which is shown.
    """
    claim = claim_of(finding)
    told = {"cohens-d", "label"}
    if claim is not None and claim.elsewhere is not None:
        told |= {"change", "points"}
    return any(one.about not in told for one in finding.discrepancies)


def _other_numbers(finding: Finding, ratio: float) -> list[tuple[float, str]]:
    """The ratios that the source prints elsewhere, and their places, if all have the effect's
    direction."""
    found = [
        (ratio if (other := other_ratio(finding, one)) is None else other, one.place)
        for one in finding.discrepancies
        if one.about in ("change", "points")
    ]
    alike = all((other - 1) * (ratio - 1) > 0 and other != ratio for other, _ in found)
    return found if alike else []


def other_ratio(finding: Finding, clash: Discrepancy) -> float | None:
    """The other number of the change as a ratio; None: it has none, or it is not of the change."""
    whole = {"change": 100, "points": finding.values.baseline}.get(clash.about)
    return 1 + clash.other / whole if clash.other is not None and whole else None


def hidden(finding: Finding, ratio: float) -> tuple[float, float]:
    """All ratios that two printed values, or a printed change, may stand for.

    The range follows from their digits, or from the steps of the source, where a value is the last
    step that was reached.
    """
    values, effect = finding.values, finding.effect
    if values.baseline is not None and values.treatment is not None:
        base = _stands_for(values.baseline, values.step)
        treated = _stands_for(values.treatment, values.step)
        if base.low <= 0 or treated.low <= 0:
            return ratio, ratio
        return treated.low / base.high, treated.high / base.low
    if effect is not None and effect.printed is not None and effect.printed_as == "percent":
        span = as_printed(effect.printed)
        return 1 + span.low / 100, 1 + span.high / 100
    return ratio, ratio


def by_digits(finding: Finding) -> tuple[float, float] | None:
    """All ratios that the digits of a number's source allow, where these are far apart: 0.9 and
    1.2 ms are +33%, and anything from +21% to +47%. None: the number is nearly exact."""
    effect = finding.effect
    if effect is None or effect.ratio is None or finding.computed or effect.how == "range":
        return None
    if effect.how == "printed" and effect.printed_as == "percent":
        return None
    low, high = effect.low, effect.high  # of a chain, by all its links
    if low is None or high is None:
        low, high = hidden(finding, effect.ratio)
    return (low, high) if math.log(high / low) > _COARSE else None


def _stands_for(value: float, step: float | None) -> Span:
    return as_printed(value) if step is None else Span(value, value + step)
