"""`tare report`: analyse a run's records and write its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tare.analysis.analyse import analyse
from tare.errors import UsageError
from tare.report.markdown import render_markdown
from tare.report.terminal import render_summary
from tare.report.write import to_json, write_report

NOT_VALID = 3


def finish(run: Path, *, json: bool, markdown: bool = False) -> int:
    """Analyse, write the report, show the summary; the exit status that the result deserves."""
    analysis = analyse(run)
    page = write_report(run, analysis)
    if json:
        typer.echo(to_json(analysis), nl=False)
    elif markdown:
        typer.echo(render_markdown(analysis), nl=False)
    else:
        console = Console()
        console.print(render_summary(analysis))
        console.print(f"\nreport: {near(page)}", markup=False, soft_wrap=True)
    return 0 if analysis.valid else NOT_VALID


def near(path: Path) -> str:
    """The path as a user here would write it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def only_one(*, json: bool, markdown: bool) -> None:
    """Refuse both at once.

    Raises:
        UsageError: both are asked for.
    """
    if json and markdown:
        raise UsageError(
            "--json and --markdown exclude each other",
            remedy="give one of them; the files are written in any case",
        )


def command(
    run: Annotated[Path, typer.Argument(help="The run's directory, runs/NAME.", metavar="RUN")],
    json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the report as Markdown.")
    ] = False,
) -> None:
    """Make one offline HTML page, Markdown, JSON and tables from a run, finished or not."""
    only_one(json=json, markdown=markdown)
    raise typer.Exit(finish(run.absolute(), json=json, markdown=markdown))
