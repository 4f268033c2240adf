"""`tare run`: run a study, or go on with one that was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tare.cli.live import LiveView
from tare.cli.plan import Json, Overrides, StudyFile, checked_plan
from tare.cli.report import finish
from tare.lab.directory import choose
from tare.lab.progress import Silent
from tare.lab.run import Lab

Runs = Annotated[Path, typer.Option("--runs", help="Directory that holds all runs.")]


def command(
    study: StudyFile,
    set_: Overrides = None,
    runs: Runs = Path("runs"),
    name: Annotated[
        str | None, typer.Option(help="Name of the run; the study's by default.")
    ] = None,
    json: Json = False,
) -> None:
    """Run a study. An interrupted run of the same study is resumed by itself."""
    plan = checked_plan(study, set_, runs)
    directory = choose(runs.absolute(), plan.study, name)
    if json:
        outcome = Lab(plan, directory, study, Silent()).run()
    else:
        console = Console()
        if directory.note:
            console.print(directory.note, markup=False)
        verb = "resuming" if directory.resumed else "beginning"
        console.print(
            f"{verb} {directory.name}: {len(plan.trials) - len(directory.done)} trials to do, "
            f"at most about {plan.estimate.seconds / 60:.0f} min in all",
            markup=False,
            highlight=False,
        )
        with LiveView(console) as view:
            outcome = Lab(plan, directory, study, view).run()
    status = finish(outcome.directory, json=json)
    if outcome.failed and not json:
        typer.echo(f"{len(outcome.failed)} trials failed: {', '.join(outcome.failed)}")
    raise typer.Exit(status)
