"""`tare replicate`: run a published study, and put its findings beside what came out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from tare.analysis.analyse import analyse
from tare.cli.console import Terminal, say_json, table_console
from tare.cli.plan import Json, Only, Overrides, Scale, checked_plan
from tare.cli.report import NOT_VALID, beside_others, near
from tare.cli.run import Runs, measure, note_reported
from tare.errors import UsageError
from tare.knowledge.library import load_library
from tare.knowledge.replication.papers import study_file
from tare.knowledge.replication.reference import make_reference
from tare.knowledge.replication.scorecard import make_scorecard
from tare.knowledge.replication.scorecard_text import (
    COLUMNS,
    cells,
    groups,
    heading,
    markdown,
    remarks,
)
from tare.lab.directory import check_name
from tare.report.escaping import plain
from tare.report.terminal import render_summary
from tare.report.write import write_report
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from tare.knowledge.replication.model import Scorecard

JSON_FILE, MARKDOWN_FILE = "scorecard.json", "scorecard.md"
_WHOLE = ("ours", "verdict")
"""Columns whose cells are not broken into lines."""
_STYLES = {"agrees": "bold green", "disagrees": "bold red", "undecided": "bold yellow"}
_FOR_A_NEW_RUN = {"scale": "--scale", "only": "--only", "set_": "--set", "name": "--name"}


def command(
    paper: Annotated[
        str,
        typer.Argument(
            help="A study that comes with Tare, such as grambow-2018, or the path of one.",
            metavar="PAPER",
        ),
    ],
    of: Annotated[
        Path | None,
        typer.Option("--of", help="Judge this run, and run nothing.", metavar="RUN"),
    ] = None,
    scale: Scale = None,
    only: Only = None,
    set_: Overrides = None,
    runs: Runs = Path("runs"),
    name: Annotated[
        str | None, typer.Option(help="Name of the run; the study's by default.")
    ] = None,
    knowledge: Annotated[
        list[Path] | None,
        typer.Option(
            "--knowledge", help="A further knowledge base; the last one wins.", metavar="DIR"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Run a published study at a scale, and end in a scorecard: each finding beside your own."""
    given = {"scale": scale, "only": only, "set_": set_, "name": name}
    _refuse_beside_of(of, [_FOR_A_NEW_RUN[key] for key, value in given.items() if value])
    if name is not None:
        check_name(name)
    library = load_library(knowledge or [])
    file = study_file(paper)
    reference = make_reference(file, library)
    failed: list[str] = []
    if of is None:
        plan = checked_plan(file, set_, runs, scale=scale, only=only)
        outcome = measure(plan, file, runs, name, quiet=json)
        run, failed = outcome.directory, list(outcome.failed)
    else:
        run = of.absolute()
    analysis = analyse(run)
    card = make_scorecard(run, analysis, reference)
    replace_file(run / JSON_FILE, card.model_dump_json(indent=1) + "\n")
    replace_file(run / MARKDOWN_FILE, markdown(card))
    if of is None:
        write_report(run, beside_others(analysis, run, library))
        note_reported(run)
    if json:
        say_json(card.model_dump_json(indent=1))
    else:
        console = table_console()
        if of is None:
            console.print(render_summary(analysis))
            console.print()
        show(card, console)
        if failed:
            console.print(f"\n{len(failed)} trials failed: {', '.join(failed)}")
        console.print(f"\nscorecard: {near(run / MARKDOWN_FILE)}", soft_wrap=True)
    raise typer.Exit(0 if card.valid else NOT_VALID)


def _refuse_beside_of(of: Path | None, options: list[str]) -> None:
    """Options of a run that is to come say nothing of one that exists.

    Raises:
        UsageError: there is no such run, or such an option is given.
    """
    if of is None:
        return
    if options:
        raise UsageError(
            f"{' and '.join(options)} cannot go with --of",
            why="the run that is judged exists already",
            remedy="leave out --of to run the study, or the other options to judge the run",
        )
    if not of.is_dir():
        raise UsageError(
            "there is no such run",
            where=str(of),
            remedy="name a run's directory, runs/NAME",
        )


def show(card: Scorecard, console: Terminal) -> None:
    """The scorecard for people."""
    counts, *rest = heading(card)
    console.print(_text(counts, "bold"))
    for line in rest:
        console.print(_text(line))
    for group, rows in groups(card).items():
        table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
        table.title = _text(group, "bold")
        for column in COLUMNS:
            table.add_column(column, overflow="fold", no_wrap=column in _WHOLE)
        for row in rows:
            style = _STYLES.get(row.verdict, "dim")
            texts = cells(card, row)
            table.add_row(*(_text(text, style if text == row.verdict else "") for text in texts))
        console.print()
        console.print(table)
    console.print()
    for line in remarks(card):
        console.print(_text(line, "dim"))


def _text(content: str, style: str = "") -> Text:
    """Text without markup or control characters."""
    return Text(plain(content), style)
