"""`tare run`: run a study, or go on with one that was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tare.cli.left_out import left_out_lines
from tare.cli.live import LiveView
from tare.cli.plan import Json, Only, Overrides, Scale, StudyFile, checked_plan, cost
from tare.cli.quiet import warn_if_busy
from tare.cli.report import finish
from tare.cli.shortfall import show_shortfall
from tare.lab.directory import choose
from tare.lab.hold import Hold
from tare.lab.progress import Silent
from tare.lab.run import Lab

if TYPE_CHECKING:
    from tare.lab.run import Outcome
    from tare.study.plan import Plan

Runs = Annotated[Path, typer.Option("--runs", help="Directory that holds all runs.")]


def command(
    study: StudyFile,
    set_: Overrides = None,
    scale: Scale = None,
    only: Only = None,
    runs: Runs = Path("runs"),
    name: Annotated[
        str | None, typer.Option(help="Name of the run; the study's by default.")
    ] = None,
    json: Json = False,
) -> None:
    """Run a study. An interrupted run of the same study is resumed by itself."""
    plan = checked_plan(study, set_, runs, scale=scale, only=only)
    outcome = measure(plan, study, runs, name, quiet=json)
    status = finish(outcome.directory, json=json)
    if outcome.failed and not json:
        typer.echo(f"{len(outcome.failed)} trials failed: {', '.join(outcome.failed)}")
    raise typer.Exit(status)


def measure(plan: Plan, study: Path, runs: Path, name: str | None, *, quiet: bool) -> Outcome:
    """Measure everything of the plan that is still to do, and show how far it is.

    Args:
        study: the file that the plan was made from; the run keeps it.
        name: of the run; None: the study's.
        quiet: show nothing.
    """
    directory = choose(runs.absolute(), plan.study, name)
    with Hold(directory.name):
        pass  # another run is told before a word of this one; the lab takes it again
    if quiet:
        return Lab(plan, directory, study, Silent()).run()
    console = Console()
    if directory.note:
        console.print(directory.note, markup=False)
    verb = "resuming" if directory.resumed else "beginning"
    console.print(
        f"{verb} {directory.name}: {len(plan.trials) - len(directory.done)} trials to do, "
        f"at most about {cost(plan.estimate.seconds)} in all",
        markup=False,
        highlight=False,
    )
    for line in left_out_lines(plan):
        console.print(line, markup=False, highlight=False)
    show_shortfall(plan, console)
    warn_if_busy(console)
    with LiveView(console) as view:
        return Lab(plan, directory, study, view).run()
