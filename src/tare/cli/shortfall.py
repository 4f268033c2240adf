"""What a plan's result will not be able to say, in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.cli.compared import LEAST_UNITS
from tare.cli.console import Terminal
from tare.report.numbers import count
from tare.study.comparisons import comparisons

if TYPE_CHECKING:
    from tare.study.conditions import Condition
    from tare.study.plan import Plan


def show_shortfall(plan: Plan, console: Terminal) -> None:
    """What the result will not be able to say, however well the run goes."""
    for line in shortfall_lines(plan):
        console.print(line, style="bold yellow")


def shortfall_lines(plan: Plan) -> list[str]:
    """The same in lines, each with its remedy; empty: nothing will be missing."""
    if not plan.conditions:
        return []
    asked = list(comparisons(plan.study, plan.planned))
    running = {one.name for one in plan.conditions}
    made = [pair for pair in asked if {one.name for one in pair} <= running]
    design = plan.study.design
    lines = []
    if asked and not made:
        run = count(len(plan.conditions), "condition")
        lines.append(
            f"nothing will be compared: {run} to run, and the one that each is compared with is "
            "left out"
        )
    elif _controls_alone(made) and not _controls_alone(asked):
        lines.append(
            "only controls will be compared: of every other comparison one side is left out, so "
            "that the study's question has no answer"
        )
    if design.deployments * design.blocks < LEAST_UNITS:
        lines.append(
            "no interval can be made: one deployment x one block measures every condition once; "
            "ask for more, e.g. --set design.deployments=3"
        )
    elif _conditional(plan, made):
        lines.append(
            "one deployment of each condition: intervals speak of these deployments alone, and no "
            "verdict is given; ask for more, e.g. --set design.deployments=3"
        )
    return [f"note: {line}" for line in lines]


def _controls_alone(pairs: list[tuple[Condition, Condition]]) -> bool:
    return all(base.repeats(treated) for base, treated in pairs)


def _conditional(plan: Plan, made: list[tuple[Condition, Condition]]) -> bool:
    """Whether each has one deployment for all blocks, which confounds it with the platform."""
    design = plan.study.design
    if design.fresh != "deployment" or design.deployments > 1:
        return False
    return any(base.deployment != treated.deployment for base, treated in made)
