"""`tare plan`: what a study will do and cost, and whether it can be done here."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from tare.artifacts.lock import locked_versions
from tare.artifacts.tree import check_home
from tare.cli.console import Terminal, say_json, table_console
from tare.cli.doctor import named_cluster, named_swarm, runtime_states
from tare.cli.expected import expected_lines
from tare.cli.left_out import left_out_lines
from tare.cli.quiet import warn_if_busy
from tare.cli.separate import separate_lines
from tare.cli.shortfall import show_shortfall
from tare.cli.starts import start_lines
from tare.cli.taken_hosts import taken_hosts
from tare.databases.mongodb.installation import Unfit, unfit
from tare.errors import ArtifactError, TareError
from tare.machines.facts import local_facts
from tare.machines.inventory.read import named_inventory
from tare.report import numbers
from tare.runtimes.availability import obstacle
from tare.runtimes.docker_engine import data_directory
from tare.runtimes.kubernetes.local_pods import kubelet_runs
from tare.runtimes.swarm.settings import swarm_settings
from tare.runtimes.unsliced import unsliced
from tare.study.checks import refusals, refuse_plan
from tare.study.design import LEAST_LOOKED_AT
from tare.study.endpoints import margin_of, primary_endpoints, secondary_margins
from tare.study.estimate import estimate
from tare.study.plan import Plan, make_plan
from tare.study.read import load_study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tare.runtimes.availability import Obstacle
    from tare.study.schema import Setup, Study

_HOURS_FROM, _DAYS_FROM = 2, 48
"""Hours from which a length is told in hours, and in days."""
MOST_LINES = 12
"""Lines of the order that are printed."""
StudyFile = Annotated[Path, typer.Argument(help="The study, a YAML file.", metavar="STUDY")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="Override a field, e.g. --set load.threads=64.", metavar="PATH=VALUE"
    ),
]
Scale = Annotated[
    str | None,
    typer.Option("--scale", help="One of the study's scales, e.g. laptop.", metavar="NAME"),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="Only the conditions with these levels of a factor, e.g. --only threads=10,50.",
        metavar="FACTOR=LEVEL,...",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def checked_plan(
    study: Path,
    overrides: list[str] | None,
    where: Path | None = None,
    *,
    scale: str | None = None,
    only: list[str] | None = None,
) -> Plan:
    """Read, expand and order a study, and refuse what cannot work on this machine.

    Args:
        study: the study file.
        overrides: `--set` values.
        where: where the runs will lie; its disk must have room.
        scale: one of the study's scales; None: the one that it names, if it does.
        only: `--only` values.

    Raises:
        StudyError: for the first refusal, with file, line, reason and remedy, and all others.
    """
    plan = plan_here(load_study(study, overrides or [], scale, only or []))
    refuse_here(plan, where)
    return plan


def plan_here(study: Study) -> Plan:
    """The study's plan on this machine: what it cannot run is left out."""
    memory = local_facts().memory_bytes
    return make_plan(study, obstacle_here(), memory, unsliced_here())


def refuse_here(plan: Plan, where: Path | None = None) -> None:
    """Refuse what cannot work on this machine.

    Raises:
        StudyError: for the first refusal, with file, line, reason and remedy, and all others.
    """
    machine = local_facts(where, data_directory() if plan.estimate.engine_disk_bytes else None)
    asked = any(_uses("kubernetes", one.setup) for one in plan.conditions)
    swarm = any(_uses("swarm", one.setup) for one in plan.conditions)
    states = runtime_states(kubernetes=asked, swarm=swarm)
    elsewhere = {"kubernetes"} if asked and not kubelet_runs() else set()
    if swarm and not swarm_settings().local:
        elsewhere.add("swarm")
    refuse_plan(refusals(plan, machine, states, locked_versions(), elsewhere, _unfit))


def _unfit(setup: Setup) -> list[Unfit]:
    """Why files that the setup names are not the server that it asks for."""
    database = setup.database
    if database.kind == "mongodb":
        return unfit(database, setup.platform.runtime)
    if database.home is None:
        return []
    try:
        check_home(database.version, Path(database.home))
    except (ArtifactError, OSError) as error:
        why = f"{error.what} ({database.home})" if isinstance(error, TareError) else str(error)
        remedy = error.remedy if isinstance(error, TareError) else "name a directory"
        return [Unfit(("database", "home"), why, remedy)]
    return []


def _uses(runtime: str, setup: Setup) -> bool:
    return runtime in (setup.platform.runtime, setup.client.runtime)


def obstacle_here() -> Callable[[Setup], Obstacle | None]:
    """What hinders a setup here; an orchestrator is asked once, and only if one needs it."""
    cluster, swarm, hosts = cache(named_cluster), cache(named_swarm), cache(named_inventory)

    def hindered(setup: Setup) -> Obstacle | None:
        return obstacle(
            setup,
            cluster() if _uses("kubernetes", setup) else None,
            swarm() if _uses("swarm", setup) else None,
            hosts() if "ssh" in (setup.platform.machines, setup.client.machines) else None,
        )

    return hindered


def unsliced_here() -> Callable[[Setup], str]:
    """Why units of a setup cannot be driven in slices; each is asked only if a setup needs it."""
    kubelet, swarm, hosts = cache(kubelet_runs), cache(swarm_settings), cache(named_inventory)

    def why_not(setup: Setup) -> str:
        over_ssh = "ssh" in (setup.platform.machines, setup.client.machines)
        return unsliced(
            setup,
            kubelet=not _uses("kubernetes", setup) or kubelet(),
            swarm=not _uses("swarm", setup) or swarm().local,
            inventory=hosts() if over_ssh else None,
        )

    return why_not


def command(
    study: StudyFile,
    set_: Overrides = None,
    scale: Scale = None,
    only: Only = None,
    json: Json = False,
) -> None:
    """Show conditions, order, expected time, disk and memory of a study.

    What it would cost is shown also where this machine is too small for it, which is then said.
    """
    plan = plan_here(load_study(study, set_ or [], scale, only or []))
    if json:
        say_json(plan.model_dump_json(indent=1))
    else:
        show(plan, table_console(), expected_lines(plan, Path("runs")))
    refuse_here(plan)


def cost(seconds: float) -> str:
    """A run's length as people say it: minutes, hours, or days of the machine."""
    hours = seconds / 3600
    if hours < _HOURS_FROM:
        return f"{seconds / 60:.0f} min"
    if hours < _DAYS_FROM:
        return f"{hours:.1f} h"
    return f"{hours:,.0f} h of this machine, {hours / 24:.1f} days"


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


def _looks(plan: Plan) -> list[str]:
    """When a run until decided is looked at, and what ends it for time."""
    most = plan.study.design.at_most
    if most is not None:
        late = f"no round but the first is begun that would end later than {numbers.length(most)}"
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


def show(plan: Plan, console: Terminal, expected: Sequence[str] = ()) -> None:
    """The plan for people.

    Args:
        expected: lines on what to expect of the result; before what it cannot say.
    """
    study, design = plan.study, plan.study.design
    size = f" at scale {study.scale}" if study.scale else ""
    console.print(Text.assemble((study.study, "bold"), f"{size}  {study.question}"))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("condition", "runs on", "nodes", "load", "own deployment"):
        table.add_column(title, overflow="fold")
    for one in plan.conditions:
        setup = one.setup
        platform = (
            f"{setup.platform.runtime}, {setup.platform.attachment}, {setup.platform.storage}"
        )
        nodes = f"{setup.clusters} x {setup.database.nodes}, RF {setup.database.replication_factor}"
        again = f" (A/A of {one.aa_of})" if one.aa_of else ""
        table.add_row(one.name + again, platform, nodes, _load(setup), one.deployment)
    console.print(table)
    for line in [*left_out_lines(plan), *taken_hosts(plan)]:
        console.print(line)
    console.print(
        f"\n{design.deployments} deployments x {design.blocks} blocks x {len(plan.conditions)} "
        f"conditions = {len(plan.trials)} trials, fresh per {design.fresh}, seed {plan.seed}",
    )
    console.print(f"measured {plan.slicing.words}", highlight=False, markup=False)
    for line in start_lines(plan):
        console.print(line, highlight=False, markup=False)
    for line in _looks(plan):
        console.print(line)
    for line in _order(plan):
        console.print(line)
    console.print(f"\n{_endpoints(study)}")
    need = plan.estimate
    unit, word = (60, "min") if need.seconds < _HOURS_FROM * 3600 else (3600, "h")
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
    warn_if_busy(console)
    show_shortfall(plan, console)
    for line in separate_lines(plan):
        console.print(line, highlight=False, markup=False)
