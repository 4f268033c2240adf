"""`tare plan`: what a study will do and cost, and whether it can be done here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from tare.artifacts.lock import locked_versions
from tare.cli.doctor import runtime_states
from tare.machines.facts import local_facts
from tare.runtimes.docker_engine import data_directory
from tare.study.checks import refusals, refuse_plan
from tare.study.endpoints import margin_of, primary_endpoints, secondary_margins
from tare.study.plan import Plan, make_plan
from tare.study.read import load_study

if TYPE_CHECKING:
    from tare.study.schema import Setup, Study

MOST_LINES = 12
"""Lines of the order that are printed."""
StudyFile = Annotated[Path, typer.Argument(help="The study, a YAML file.", metavar="STUDY")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="Override a field, e.g. --set load.threads=64.", metavar="PATH=VALUE"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def checked_plan(study: Path, overrides: list[str] | None, where: Path | None = None) -> Plan:
    """Read, expand and order a study, and refuse what cannot work on this machine.

    Args:
        study: the study file.
        overrides: `--set` values.
        where: where the runs will lie; its disk must have room.

    Raises:
        StudyError: for the first refusal, with file, line, reason and remedy, and all others.
    """
    plan = make_plan(load_study(study, overrides or []))
    machine = local_facts(where, data_directory() if plan.estimate.engine_disk_bytes else None)
    refuse_plan(refusals(plan, machine, runtime_states(), locked_versions()))
    return plan


def command(study: StudyFile, set_: Overrides = None, json: Json = False) -> None:
    """Show conditions, order, expected time, disk and memory of a study."""
    plan = checked_plan(study, set_)
    if json:
        typer.echo(plan.model_dump_json(indent=1))
        return
    show(plan, Console())


def _order(plan: Plan) -> list[str]:
    """The order of deployments and trials, its beginning where it is long."""
    lines = []
    for turn in plan.rounds:
        lines.append(f"  D{turn.index} deploy: {', '.join(turn.deploy)}")
        lines += [f"     B{block.index:02}: {', '.join(block.order)}" for block in turn.blocks]
    left = len(lines) - MOST_LINES
    if left <= 0:
        return lines
    return [*lines[:MOST_LINES], f"  and {left} more lines of this order; --json has all of it"]


def _endpoints(study: Study) -> str:
    """What decides, and which margins are of metrics that do not."""
    primary = primary_endpoints(study.margins, study.analysis.primary)
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


def _load(setup: Setup) -> str:
    """Workload, intensity, and the tool where it is not Tare's own."""
    tool = "" if setup.client.tool == "tare" else f", by {setup.client.tool}"
    return f"{setup.load.label}, {setup.load.intensity}{tool}"


def show(plan: Plan, console: Console) -> None:
    """The plan for people."""
    study, design = plan.study, plan.study.design
    console.print(f"[bold]{study.study}[/]  {study.question}", highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("condition", "runs on", "nodes", "load", "own deployment"):
        table.add_column(title)
    for one in plan.conditions:
        setup = one.setup
        platform = f"{setup.platform.runtime}, {setup.platform.network}, {setup.platform.storage}"
        nodes = f"{setup.clusters} x {setup.database.nodes}, RF {setup.database.replication_factor}"
        again = f" (A/A of {one.aa_of})" if one.aa_of else ""
        table.add_row(one.name + again, platform, nodes, _load(setup), one.deployment)
    console.print(table)
    console.print(
        f"\n{design.deployments} deployments x {design.blocks} blocks x {len(plan.conditions)} "
        f"conditions = {len(plan.trials)} trials, fresh per {design.fresh}, seed {plan.seed}",
        highlight=False,
    )
    for line in _order(plan):
        console.print(line, highlight=False)
    console.print(f"\n{_endpoints(study)}", highlight=False)
    need = plan.estimate
    parts = ", ".join(f"{k} {v / 60:.1f}" for k, v in need.breakdown.items() if v)
    console.print(
        f"\nexpected: at most about {need.seconds / 60:.0f} min ({parts}), "
        f"{need.memory_bytes / 2**30:.1f} GiB of memory, {need.disk_bytes / 2**30:.1f} GiB of disk",
        highlight=False,
    )
