"""A finding read the other way round: 20% to 25% more are 17% to 20% less.

A number, a bound, no difference and a direction each stay what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.knowledge.claims import claim_of, other_ratio
from tare.knowledge.derived import rounded
from tare.knowledge.library import Entry, place_inside
from tare.knowledge.schema import PublishedEffect, Source, Values

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from tare.knowledge.schema import Discrepancy, Finding, Spread

_OTHER_WAY: dict[str, Literal["higher", "lower", "none"]] = {
    "higher": "lower",
    "lower": "higher",
    "none": "none",
}


def can_be_mirrored(finding: Finding) -> bool:
    """Whether it compares two sides that differ in more than the client, and is no summary.

    Findings computed by Tare stand for printed numbers, which are mirrored themselves.
    """
    claim, side, base = claim_of(finding), finding.treatment, finding.baseline
    if claim is None or claim.kind == "summary" or side is None or finding.computed:
        return False
    return side != base and side.client == base.client


def mirrored(entry: Entry) -> Entry:
    """The same comparison with its sides exchanged; it has the finding as its one link.

    Raises:
        ValueError: it cannot be mirrored.
    """
    finding, effect = entry.finding, entry.finding.effect
    if effect is None or finding.treatment is None or effect.direction == "varies":
        raise ValueError(f"{finding.id} cannot be read the other way round")
    old, new = finding.values.baseline, finding.values.treatment
    ratio = old / new if old and new else _inverse(effect.ratio)
    turned = finding.model_copy(
        update={
            "baseline": finding.treatment,
            "treatment": finding.baseline,
            "values": Values(baseline=new, treatment=old, step=finding.values.step),
            "effect": PublishedEffect(
                ratio=None if ratio is None else rounded(ratio),
                low=_inverse(effect.high),
                high=_inverse(effect.low),
                direction=_OTHER_WAY[effect.direction],
                how=effect.how if effect.how in ("range", "direction") else "chained",
            ),
            "spread": _spread(finding.spread),
            "source": Source(where=place_inside(finding)),
            "discrepancies": list(_discrepancies(finding, effect.ratio)),
            # the notes on a number would be shown as its assumption
            "notes": "" if effect.ratio is not None else finding.notes,
        }
    )
    return Entry(turned, entry.work, entry.origin, links=(finding.id,))


def _inverse(ratio: float | None) -> float | None:
    return None if ratio is None else rounded(1 / ratio)


def _spread(spread: Spread) -> Spread:
    ci = spread.ci
    return spread.model_copy(
        update={
            "baseline_sd": spread.treatment_sd,
            "treatment_sd": spread.baseline_sd,
            "cohens_d": None,
            "ci": None if ci is None else (1 / ci[1], 1 / ci[0]),
        }
    )


def _discrepancies(finding: Finding, ratio: float | None) -> Iterator[Discrepancy]:
    """A second number of the change, also read the other way round."""
    for clash in finding.discrepancies:
        other = other_ratio(finding, clash)
        if other is None or ratio is None:
            yield clash.model_copy(update={"other": None})
            continue
        change = rounded((1 / other - 1) * 100) if other > 0 else None
        yield clash.model_copy(update={"about": "change", "other": change})
