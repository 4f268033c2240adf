"""`tare notebook`: a Jupyter notebook of a run, beside its report."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli.options import RunDirectory


def command(
    run: RunDirectory,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a notebook that is there already.")
    ] = False,
) -> None:
    """Write a Jupyter notebook that loads a run's trials, effects, series and histograms."""
    from tare.analysis.analyse import analyse
    from tare.cli.console import say
    from tare.cli.finish import NOT_VALID, near
    from tare.errors import UsageError
    from tare.report.notebook import NAME, render_notebook
    from tare.report.write import write_data
    from tare.whole_file import replace_file

    place = run.absolute()
    target = place / NAME
    if target.exists() and not force:
        raise UsageError(
            "there is a notebook already",
            where=near(target),
            why="it may hold work of yours",
            remedy="rename it, or replace it with --force",
        )
    analysis = analyse(place)
    write_data(place, analysis)
    replace_file(target, render_notebook(analysis))
    say(f"notebook: {near(target)}")
    raise typer.Exit(0 if analysis.valid else NOT_VALID)
