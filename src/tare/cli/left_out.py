"""What a plan leaves out, in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.study.comparisons import comparisons
from tare.study.left_out import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.study.plan import Plan


def left_out_lines(plan: Plan) -> list[str]:
    """The conditions that cannot be run, why, and what would mend it; empty: all can be run."""
    if not plan.left_out:
        return []
    lines = [f"\nleft out, {len(plan.left_out)} of {len(plan.planned)} conditions:"]
    groups: dict[tuple[str, str], dict[str, Mapping[str, str]]] = {}
    for one in plan.left_out:
        own = groups.setdefault((one.why, one.remedy), {})
        own[one.condition.name] = one.condition.levels
    for (why, remedy), gone in groups.items():
        rest = [one.levels for one in plan.planned if one.name not in gone]
        lines += [f"  {in_words(gone, rest)}: {why}", f"    try: {remedy}"]
    lost = len(plan.not_compared)
    if lost:
        asked = sum(1 for _ in comparisons(plan.study, plan.planned))
        lines.append(
            f"  not compared: {lost} of {asked} pairs of conditions; their averages are over the "
            "others"
            if lost < asked
            else "  nothing is compared: every comparison needs a condition that is left out"
        )
    return lines
