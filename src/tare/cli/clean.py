"""`tare clean`: remove exactly what dead runs left on this machine."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from tare.lab import clean
from tare.lab.hold import Hold


def command(
    runs: Annotated[Path, typer.Option("--runs", help="Directory that holds all runs.")] = Path(
        "runs"
    ),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Remove containers, networks, volumes, processes, groups and addresses of dead runs."""
    with Hold("tare clean"):
        found = clean.find(runs.absolute())
        if not dry_run:
            clean.remove(found)
    words = found.words()
    if json:
        typer.echo(json_module.dumps({"removed": not dry_run, "found": words}, indent=1))
        return
    for line in words:
        typer.echo(f"{'would remove' if dry_run else 'removed'} {line}")
    if not words:
        typer.echo("nothing was left")
