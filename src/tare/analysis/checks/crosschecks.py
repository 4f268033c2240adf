"""Whether other ways to the same answer contradict the intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.checks.evidence import Evidence, check, count

if TYPE_CHECKING:
    from tare.analysis.model import Check


def crosschecks(evidence: Evidence) -> Check | None:
    """Bootstrap intervals apart from the interval, and rank tests that see the opposite."""
    checked = [effect for effect in evidence.effects if effect.crosschecks]
    if not checked:
        return None
    details = [
        f"{effect.metric}, {effect.treatment} / {effect.baseline}: {other.name} disagrees"
        for effect in checked
        for other in effect.crosschecks
        if not other.agrees
    ]
    if not details:
        words = "bootstrap and rank tests contradict no interval"
        return check("cross-checks", "ok", words)
    summary = (
        f"{count(len(details), 'cross-check')} of {count(len(checked), 'comparison')} contradict "
        "the interval: look at the trials before you believe either"
    )
    return check("cross-checks", "warning", summary, details)
