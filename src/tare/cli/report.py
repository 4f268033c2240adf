"""`tare report`: analyse a run's records and write its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tare.analysis.analyse import analyse
from tare.report.terminal import render_summary
from tare.report.write import write_report

NOT_VALID = 3


def finish(run: Path, *, json: bool) -> int:
    """Analyse, write the report, show the summary; the exit status that the result deserves."""
    analysis = analyse(run)
    page = write_report(run, analysis)
    if json:
        typer.echo(analysis.model_dump_json(indent=1))
    else:
        console = Console()
        console.print(render_summary(analysis))
        console.print(f"\nreport: {_near(page)}", markup=False, soft_wrap=True)
    return 0 if analysis.valid else NOT_VALID


def _near(page: Path) -> str:
    try:
        return str(page.relative_to(Path.cwd()))
    except ValueError:
        return str(page)


def command(
    run: Annotated[Path, typer.Argument(help="The run's directory, runs/NAME.", metavar="RUN")],
    json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
) -> None:
    """Make one offline HTML page, Markdown and JSON from a run, finished or not."""
    raise typer.Exit(finish(run.absolute(), json=json))
