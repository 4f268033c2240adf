"""`tare run`: run a study, or go on with one that was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tare.cli.options import Json, Name, Only, Overrides, Runs, Scale, StudyFile


def command(
    study: StudyFile,
    set_: Overrides = None,
    scale: Scale = None,
    only: Only = None,
    runs: Runs = Path("runs"),
    name: Name = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            min=2,
            help="Extend the study's finished run to so many rounds in all.",
            metavar="N",
        ),
    ] = None,
    weigh: Annotated[
        bool,
        typer.Option(
            "--weigh/--no-weigh",
            help="Weigh the ways to a server first, for two minutes, where this machine has no "
            "prices of the last week: the report then has a bill.",
        ),
    ] = True,
    json: Json = False,
) -> None:
    """Run a study. An interrupted run of the same study is resumed by itself."""
    from tare.cli.console import say
    from tare.cli.finish import finish
    from tare.cli.measuring import begin_words, measure, note_reported
    from tare.cli.planning import checked_plan
    from tare.lab.directory import check_name

    if name is not None:
        check_name(name)
    longer = [] if rounds is None else [f"design.deployments={rounds}"]
    plan = checked_plan(study, [*(set_ or []), *longer], runs, scale=scale, only=only)
    again = begin_words(study, set_, scale, only, runs, name)
    outcome = measure(
        plan, study, runs, name, quiet=json, command=again, extend=bool(longer), weigh=weigh
    )
    status = finish(outcome.directory, json=json)
    note_reported(outcome.directory)
    if outcome.failed and not json:
        say(f"{len(outcome.failed)} trials failed: {', '.join(outcome.failed)}")
    raise typer.Exit(status)
