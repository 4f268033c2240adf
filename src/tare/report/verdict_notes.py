"""Notes on verdicts that the 95% interval beside them seems to contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.analysis.model import Analysis

SENT = "load sent by "
"""How a condition's load notes name a load generator other than Tare's own."""


def verdict_notes(analysis: Analysis, primary: Iterable[str] | None = None) -> list[str]:
    """Sentences for below a table of verdicts; none where every interval speaks for itself.

    Args:
        primary: the metrics that are shown; without it all.
    """
    shown = None if primary is None else set(primary)
    effects = [e for e in analysis.effects if shown is None or e.metric in shown]
    found = []
    if any(e.rests_on_90 for e in effects):
        found.append(
            "Within the margin (equivalent, or different within it): the 90% interval lies within "
            "the margin, as two one-sided tests at 5% ask for; the 95% interval shown may cross it."
        )
    corrected = [e for e in effects if e.rests_on_correction]
    if corrected:
        ways = dict.fromkeys(e.adjustment for e in corrected if e.adjustment != "none")
        by = f" ({'; '.join(ways)})" if ways else ""
        found.append(
            "An interval that excludes 0% beside equivalent or inconclusive: the interval is of "
            f"this one comparison; after correction for all of them{by} no difference remains."
        )
    return [*found, *_tools(analysis)]


def _tools(analysis: Analysis) -> list[str]:
    """Where several load generators are compared, the client itself may cause a difference."""
    sent = {
        c.condition: [one for one in c.load if one.startswith(SENT)] for c in analysis.conditions
    }
    if len({tuple(tools) for tools in sent.values()}) < 2:
        return []
    others = dict.fromkeys(one.removeprefix(SENT) for tools in sent.values() for one in tools)
    return [
        f"The load of some conditions was sent by {', '.join(others)}, that of others by another "
        "client: a difference between them may be the clients', not the cluster's."
    ]
