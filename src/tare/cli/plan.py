"""`tare plan`: what a study will do and cost, and whether it can be done here."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tare.cli.options import Json, Only, Overrides, Scale, StudyFile, study_words


def command(
    study: StudyFile,
    set_: Overrides = None,
    scale: Scale = None,
    only: Only = None,
    all_: Annotated[
        bool, typer.Option("--all", help="List every condition, however many there are.")
    ] = False,
    json: Json = False,
) -> None:
    """Show conditions, order, expected time, disk and memory of a study; start nothing.

    What it would cost is shown also where this machine is too small for it, which is then said.
    """
    from tare.monitor.background_load import BackgroundSample

    begun = BackgroundSample()  # takes half a second; the plan is made meanwhile
    from tare.cli.console import say_json, table_console
    from tare.cli.expected import expected_lines
    from tare.cli.plan_text import show
    from tare.cli.planning import plan_here, refuse_here
    from tare.cli.rates import rate_lines
    from tare.errors import StudyError
    from tare.study.read import load_study

    plan = plan_here(load_study(study, set_ or [], scale, only or []))
    refused: StudyError | None = None
    try:
        refuse_here(plan)
    except StudyError as error:
        if not plan.conditions:
            raise
        refused = error
    if json:
        say_json(plan.model_dump_json(indent=1))
    else:
        if refused is not None:
            table_console().print(f"cannot be run here: {refused.what}\n")
        runs = Path("runs")
        words = shlex.join(study_words(study, set_, scale, only))
        told = [*expected_lines(plan, runs, words), *rate_lines(plan, runs)]
        show(plan, table_console(), told, begun, every=all_, words=words)
    if refused is not None:
        raise refused
