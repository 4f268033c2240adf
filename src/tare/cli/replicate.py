"""`tare replicate`: run a published study, and put its findings beside what came out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tare.cli.options import Json, Knowledge, Name, Only, Overrides, Runs, Scale, complete_study
from tare.errors import UsageError

_FOR_A_NEW_RUN = {"scale": "--scale", "only": "--only", "set_": "--set", "name": "--name"}


def command(
    paper: Annotated[
        str | None,
        typer.Argument(
            help="A study that comes with Tare, such as grambow-2018, or the path of one.",
            metavar="PAPER",
            autocompletion=complete_study,
            show_default=False,
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the studies that can be replicated.")
    ] = False,
    of: Annotated[
        Path | None,
        typer.Option("--of", help="Judge this run, and run nothing.", metavar="RUN"),
    ] = None,
    scale: Scale = None,
    only: Only = None,
    set_: Overrides = None,
    runs: Runs = Path("runs"),
    name: Name = None,
    knowledge: Knowledge = None,
    json: Json = False,
) -> None:
    """Run a published study at a scale, and end in a scorecard: each finding beside your own."""
    if list_ and paper is None:
        from tare.cli.papers import show_papers

        show_papers(knowledge or [], json=json)
        return
    if paper is None or list_:
        raise UsageError(
            "which study?" if paper is None else "--list goes without a study",
            remedy="`tare replicate --list` names them; then tare replicate NAME",
        )
    given = {"scale": scale, "only": only, "set_": set_, "name": name}
    _refuse_beside_of(of, [_FOR_A_NEW_RUN[key] for key, value in given.items() if value])
    from tare.cli.replicating import ReplicationRequest, replicate

    wanted = ReplicationRequest(paper, of, scale, only, set_, runs, name, knowledge or [])
    raise typer.Exit(replicate(wanted, json=json))


def _refuse_beside_of(of: Path | None, options: list[str]) -> None:
    """Refuse options of a new run together with an existing run.

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
