"""How a plan's deployments get their rows, and which conditions share them, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.study.start import why_not

if TYPE_CHECKING:
    from tare.study.conditions import Condition
    from tare.study.plan import Plan


def start_lines(plan: Plan) -> list[str]:
    """Which deployments start from a snapshot, why others do not, and what conditions share."""
    design = plan.study.design
    reasons: dict[str, dict[str, None]] = {}
    for one in plan.conditions:
        reason = why_not(one.setup, design, here=True)
        reasons.setdefault(reason, {})[one.deployment] = None
    lines = []
    for reason, keys in reasons.items():
        which = "every deployment" if len(reasons) == 1 else f"deployments of {', '.join(keys)}"
        lines.append(
            f"{which}: fills its own table; {reason}"
            if reason
            else f"{which}: starts from a snapshot of the data; what one wrote is not handed on"
        )
    return [*lines, *_shared(plan)]


def _shared(plan: Plan) -> list[str]:
    """Conditions that share a deployment and find what others wrote: they keep its rows or
    take turns on it in slices."""
    design = plan.study.design
    if design.fresh == "trial" or (design.reset != "keep" and design.slice_s is None):
        return []
    since = "it" if design.reset == "keep" else "their block"
    groups: dict[str, list[Condition]] = {}
    for one in plan.conditions:
        groups.setdefault(one.deployment, []).append(one)
    return [
        f"{', '.join(one.name for one in sharing)}: share a deployment and its rows; each finds "
        f"what the others wrote since {since} began"
        for sharing in groups.values()
        if len(sharing) > 1
    ]
