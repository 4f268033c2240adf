"""The comparisons that a plan will make, and what each can say, in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.report.numbers import count
from tare.study.comparisons import comparisons

if TYPE_CHECKING:
    from tare.study.conditions import Condition
    from tare.study.plan import Plan

MOST_LINES = 12
"""Most comparisons that are listed."""
LEAST_UNITS = 2
"""Fewest repetitions that give an interval."""


def compared_lines(plan: Plan) -> list[str]:
    """A line for each comparison; empty: there is none."""
    pairs = list(comparisons(plan.study, plan.conditions))
    if not pairs:
        return []
    lines = [f"  {_line(plan, base, treated)}" for base, treated in pairs]
    more = len(lines) - MOST_LINES
    if more > 0:
        lines = [*lines[:MOST_LINES], f"  and {count(more, 'more comparison')}"]
    over = plan.study.analysis.over
    averaged = f", averaged over {', '.join(over.factors)}" if over else ""
    return [f"compared, by every metric{averaged}:", *lines]


def _line(plan: Plan, base: Condition, treated: Condition) -> str:
    text = f"{treated.name} with {base.name}: {_how(plan, base, treated)}"
    if treated.repeats(base):
        text += "; control, the same setup again"
    return text


def _how(plan: Plan, base: Condition, treated: Condition) -> str:
    """What is repeated, and what the answer applies to."""
    design = plan.study.design
    repeated = design.deployments * design.blocks
    if repeated < LEAST_UNITS:
        return "measured once each, so without an interval"
    if design.fresh != "deployment":
        return f"between deployments, {repeated} of each"
    if base.deployment == treated.deployment:
        many = f"{count(design.deployments, 'time')} anew" if design.deployments > 1 else "once"
        return f"inside one deployment, made {many}"
    if design.deployments == 1:
        return "between two deployments; what differs may be theirs, so no verdict"
    return f"between deployments, {design.deployments} of each"
