"""A plan in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tare.cli.background_load import warn_if_busy
from tare.cli.compared import compared_lines
from tare.cli.console import print_indented
from tare.cli.controls import control_lines
from tare.cli.hints import hint_lines
from tare.cli.plan_conditions import (
    conditions_table,
    grouped,
    levels_note,
    levels_table,
    names_in_short,
)
from tare.cli.separate import separate_lines
from tare.cli.shortfall import show_shortfall
from tare.cli.starts import start_lines
from tare.cli.taken_hosts import made_domains, taken_hosts
from tare.report.numbers import DAYS_FROM, HOURS_FROM, count, length
from tare.study.comparisons import comparisons
from tare.study.design import LEAST_LOOKED_AT
from tare.study.estimate import estimate
from tare.study.left_out import in_words
from tare.study.metric_names import margin_of, primary_metrics, secondary_margins

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.cli.console import Terminal
    from tare.monitor.background_load import BackgroundSample
    from tare.study.plan import Plan
    from tare.study.schema import Study

MOST_LINES = 12
"""Most lines of the order that are printed."""


def cost(seconds: float) -> str:
    """A run's length as people say it: minutes, hours, or days of the machine."""
    whole = f"{seconds / 3600:,.0f} h of this machine, " if seconds >= DAYS_FROM * 3600 else ""
    return whole + length(seconds)


def _order(plan: Plan, *, short: bool) -> list[str]:
    """The order of deployments and trials; only its beginning if it is long.

    Args:
        short: print only the first of each list of names, and their number.
    """
    named = names_in_short if short else ", ".join
    lines = []
    for turn in plan.rounds:
        lines.append(f"  D{turn.index} deploy: {named(turn.deploy)}")
        lines += [f"     B{block.index:02}: {named(block.order)}" for block in turn.blocks]
    left = len(lines) - MOST_LINES
    if left <= 0:
        return lines
    return [*lines[:MOST_LINES], f"  and {left} more lines of this order; --json has all of it"]


def _looks(plan: Plan) -> list[str]:
    """When a run until decided has interim looks, and which time limit ends it."""
    most = plan.study.design.at_most
    if most is not None:
        late = f"no round but the first is begun that would end later than {length(most)}"
        return [f"{late} after the run began", *_looks_before(plan)]
    return _looks_before(plan)


def _looks_before(plan: Plan) -> list[str]:
    if plan.looks:
        after = ", ".join(map(str, plan.looks))
        return [
            f"looked at after round {after}: it ends there if every primary comparison has a "
            "verdict, at a level that allows for the looks"
        ]
    if plan.study.design.until == "decided":
        return [
            f"too few rounds to look before the last one: design.deployments of "
            f"{LEAST_LOOKED_AT + 1} or more"
        ]
    return []


def left_out_lines(plan: Plan) -> list[str]:
    """The conditions that cannot be run, with reason and remedy; empty: all can be run."""
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


def _endpoints(study: Study) -> str:
    """The metrics that decide, and the margins of other metrics."""
    primary = primary_metrics(study.margins, study.analysis.primary)
    named = [f"{name}{_margin(margin_of(name, study.margins))}" for name in primary]
    rest = [
        f"{name}{_margin(study.margins[name])}"
        for name in secondary_margins(study.margins, primary)
    ]
    also = f", those with a margin too: {', '.join(rest)}" if rest else ""
    return (
        f"primary, which decide: {', '.join(named) or 'none'}; analysis.primary names others\n"
        f"secondary: every other metric{also}"
    )


def _margin(margin: float | None) -> str:
    return " (no margin)" if margin is None else f" (margin {margin * 100:g}%)"


def show(
    plan: Plan,
    console: Terminal,
    expected: Sequence[str] = (),
    begun: BackgroundSample | None = None,
    *,
    every: bool = False,
    words: str = "STUDY",
) -> None:
    """The plan for people.

    Args:
        expected: lines on what to expect of the result, printed before its limits.
        begun: a running sample of the background load.
        every: list every condition, however many there are.
        words: the study and its options, as a command line writes them.
    """
    study, design = plan.study, plan.study.design
    size = f" at scale {study.scale}" if study.scale else ""
    console.print(Text.assemble((study.study, "bold"), f"{size}  {study.question}"))
    if any(one.setup.database.stubbed for one in plan.conditions):
        console.print(
            "no mongod is named: a stub stands in, which keeps nothing. The report will be not "
            "valid, and tells what the platforms cost alone (docs/mongodb.md)",
            style="bold yellow",
        )
    short = grouped(plan, whole=every)
    console.print(levels_table(plan) if short else conditions_table(plan))
    if short:
        console.print(levels_note(plan))
    for line in [*left_out_lines(plan), *taken_hosts(plan), *made_domains(plan)]:
        console.print(line)
    console.print(
        f"\n{count(design.deployments, 'deployment')} x {count(design.blocks, 'block')} x "
        f"{count(len(plan.conditions), 'condition')} = {count(len(plan.trials), 'trial')}, "
        f"fresh per {design.fresh}, seed {plan.seed}",
    )
    console.print(f"measured {plan.slicing.words}")
    for line in start_lines(plan):
        console.print(line)
    print_indented(console, [*_looks(plan), *_order(plan, short=short), "", *compared_lines(plan)])
    console.print(f"\n{_endpoints(study)}")
    need = plan.estimate
    unit, word = (60, "min") if need.seconds < HOURS_FROM * 3600 else (3600, "h")
    parts = ", ".join(f"{k} {v / unit:.1f}" for k, v in need.breakdown.items() if v)
    console.print(
        f"\nexpected: at most about {cost(need.seconds)} (in {word}: {parts}), "
        f"{need.memory_bytes / 2**30:.1f} GiB of memory, {need.disk_bytes / 2**30:.1f} GiB of disk",
    )
    if plan.left_out:
        whole = estimate(plan.planned, design)
        console.print(
            f"with what is left out, could it be run: about {cost(whole.seconds)}, "
            f"{whole.disk_bytes / 2**30:.1f} GiB of disk",
        )
    for line in expected:
        console.print(line)
    warn_if_busy(console, begun)
    for line in [*hint_lines(plan), *control_lines(plan)]:
        console.print(line)
    show_shortfall(plan, console)
    for line in separate_lines(plan, words):
        console.print(line)
