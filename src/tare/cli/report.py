"""`tare report`: analyse a run's records and write its report."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli.options import Knowledge, RunDirectory


def command(
    run: RunDirectory,
    json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the report as Markdown.")
    ] = False,
    knowledge: Knowledge = None,
) -> None:
    """Make one offline HTML page, Markdown, JSON and tables from a run, finished or not."""
    from tare.garbage import not_collected

    with not_collected():  # also while modules are imported
        from tare.cli.finish import finish, only_one
        from tare.knowledge.library import load_library

        only_one(json=json, markdown=markdown)
        library = load_library(knowledge) if knowledge else None
        status = finish(run.absolute(), json=json, markdown=markdown, library=library)
    raise typer.Exit(status)
