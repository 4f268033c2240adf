"""`tare compare`: two runs, as one number per condition and one exit status for CI."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class FailOn(StrEnum):
    """What makes a comparison fail."""

    DIFFERENT = "different"
    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


def _side(name: str) -> Any:
    return typer.Argument(
        metavar=name,
        help=f"Run {name}: its directory or analysis.json; or a file of tare weigh --json.",
    )


def command(
    a: Annotated[Path, _side("A")],
    b: Annotated[Path, _side("B")],
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="OLD=NEW", help="A condition or level in A, and in B."),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option("--margin", metavar="METRIC=FRACTION", help="Instead of A's, e.g. p99=10%."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="METRIC", help="A primary endpoint, instead of A's."),
    ] = None,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option("--fail-on", help="Exit with 1 if a primary verdict is so. Repeatable."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")
    ] = False,
) -> None:
    """Compare run B with run A: the same study on another version, machine or platform.

    Or two files of prices, of `tare weigh --json`.
    """
    from tare.cli.comparing import compare_runs

    status = compare_runs(
        a,
        b,
        map_=map_ or [],
        margin=margin or [],
        metric=metric or [],
        fail_on=fail_on or [],
        json=json,
        markdown=markdown,
    )
    raise typer.Exit(status)
