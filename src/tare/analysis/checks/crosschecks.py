"""Whether other ways to the same answer contradict the intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.checks.evidence import Evidence, check, count
from tare.analysis.inference.crosschecks import could_contradict

if TYPE_CHECKING:
    from tare.analysis.model import Check


def crosschecks(evidence: Evidence) -> Check | None:
    """Bootstrap intervals that do not overlap the interval or do not show its difference, and rank
    tests that see the opposite; or too few units for any of these."""
    checked = [effect for effect in evidence.effects if effect.crosschecks]
    if not checked:
        return None
    details = [
        f"{effect.metric}, {effect.treatment} / {effect.baseline}: {other.name} disagrees"
        for effect in checked
        for other in effect.crosschecks
        if not other.agrees
    ]
    if details:
        summary = (
            f"{count(len(details), 'cross-check')} of {count(len(checked), 'comparison')} "
            "contradict the interval: look at the trials before you believe either"
        )
        return check("cross-checks", "warning", summary, details)
    few = sum(not could_contradict(effect) for effect in checked)
    if few == len(checked):
        return check("cross-checks", "ok", "too few units for any to contradict an interval")
    words = "bootstrap and rank tests contradict no interval"
    if few:
        words += f"; in {few:,} of {count(len(checked), 'comparison')} units are too few to"
    return check("cross-checks", "ok", words)
