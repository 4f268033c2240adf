"""What a finding claims: a number, a bound, no difference, a direction; what takes it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tare.knowledge.consistency import Span, as_printed

if TYPE_CHECKING:
    from tare.knowledge.schema import Finding

Kind = Literal["number", "bound", "none", "direction", "summary"]


@dataclass(frozen=True)
class Claim:
    """What of a finding can be told and pooled.

    Attributes:
        kind: only numbers are averaged. bound: a stated range, one end of it, or steps of a
            measurement, inside of which any ratio may lie; none: no significant difference;
            summary: of other findings, which are told themselves.
        low, high: ends of a bound; None: open.
        elsewhere: where the source prints another number of it, as a ratio, and the place.
    """

    kind: Kind
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    direction: str = ""
    elsewhere: tuple[float, str] | None = None


def claim_of(finding: Finding) -> Claim | None:
    """The finding's claim; None where it states a variability alone."""
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
    if (second := _second_number(finding, effect.ratio)) is not None:
        low, high = sorted((effect.ratio, second[0]))
        return Claim("bound", effect.ratio, low, high, effect.direction, second)
    return Claim("number", effect.ratio, direction=effect.direction)


def contradicted(finding: Finding) -> bool:
    """Another statement of the same source does not agree with the effect.

    A wrong effect size (Cohen's d) leaves the means that it was made of as they are, and a wrong
    caption what the text says. Two numbers of one direction are a range, which is told.
    """
    claim = claim_of(finding)
    told = {"cohens-d", "label"}
    if claim is not None and claim.elsewhere is not None:
        told |= {"change", "points"}
    return any(one.about not in told for one in finding.discrepancies)


def _second_number(finding: Finding, ratio: float) -> tuple[float, str] | None:
    """The ratio that the source prints elsewhere, and the place, if both are of one direction."""
    base = finding.values.baseline
    for one in finding.discrepancies:
        if one.other is None or one.about not in ("change", "points"):
            continue
        whole = 100 if one.about == "change" else base
        other = 1 + one.other / whole if whole else ratio
        if (other - 1) * (ratio - 1) > 0 and other != ratio:
            return other, one.place
    return None


def hidden(finding: Finding, ratio: float) -> tuple[float, float]:
    """All ratios that two printed values, or a printed change, may stand for.

    By their digits, or by the steps in which the source went, of which a value is the last that
    was reached.
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


def _stands_for(value: float, step: float | None) -> Span:
    return as_printed(value) if step is None else Span(value, value + step)
