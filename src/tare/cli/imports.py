"""`tare import`: other tools' files become a run, with its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tare.cli.options import complete_study, named_study
from tare.imports.tool_names import TOOLS


def command(
    tool: Annotated[str, typer.Argument(help=f"Whose files: {', '.join(TOOLS)}.", metavar="TOOL")],
    paths: Annotated[
        list[Path],
        typer.Argument(help="Files, directories, .zip, .tar (.gz, .xz, .bz2).", metavar="PATHS..."),
    ],
    study: Annotated[
        Path,
        typer.Option(
            "--study",
            help="The study that they are trials of: a YAML file, or the name of one of Tare's.",
            callback=named_study,
            autocompletion=complete_study,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="The run's directory, new or empty.")],
    factors: Annotated[
        str | None,
        typer.Option(
            "--factors",
            help="File name with fields, e.g. '{client}_{threads}_{repetition}.txt'; the study's "
            "files.template by default.",
            metavar="TEMPLATE",
        ),
    ] = None,
    sidecar: Annotated[
        Path | None,
        typer.Option("--sidecar", help="CSV with a column file and one column per factor."),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option("--level", help="FACTOR=LEVEL that all of the files have."),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include", help="Only files whose path ends so, e.g. '*/run.txt'.", metavar="PATTERN"
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", help="No files whose path ends so.", metavar="PATTERN"),
    ] = None,
    unit: Annotated[
        str | None, typer.Option("--unit", help="hlog: unit of the values, ns, us or ms.")
    ] = None,
    scope: Annotated[
        str,
        typer.Option("--scope", help="sar, iostat, dstat: whose series; machine: the database's."),
    ] = "machine",
    cpus: Annotated[
        int | None, typer.Option("--cpus", help="iostat, dstat: CPUs of that machine.", min=1)
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option("--interval", help="iostat, dstat: seconds between rows without times."),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Analyse the run and write its report.")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print what was imported as JSON.")] = False,
) -> None:
    """Make a run from the files of YCSB, cassandra-stress, latte, sar and others.

    Exit status: 0 all files are in; 1 none is in, and nothing was written.

    3: some were skipped, which are named, or the result is not valid.
    """
    from tare.cli.importing import ImportRequest, import_all

    wanted = ImportRequest(
        tool, paths, study, out, factors, sidecar, level or [], include or [], exclude or [], report
    )
    status = import_all(wanted, unit=unit, scope=scope, cpus=cpus, interval=interval, json=json)
    raise typer.Exit(status)
