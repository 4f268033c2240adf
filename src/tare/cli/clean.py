"""`tare clean`: remove exactly what dead runs left on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tare.cli.console import say, say_as_json
from tare.cli.options import Runs


def command(
    runs: Runs = Path("runs"),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Remove what dead runs left here, and on the clusters and hosts that are named here.

    Here: containers, networks, volumes, processes, groups and addresses.

    Elsewhere: Kubernetes namespaces, Swarm services, files on hosts of the inventory.
    """
    from tare.lab import clean
    from tare.lab.run_lock import RunLock

    with RunLock("tare clean"):
        found = clean.find(runs.absolute())
        faults = [] if dry_run else clean.remove(found)
    words = found.words()
    if json:
        left = [str(fault) for fault in faults]
        told = {
            "removed": not dry_run,
            "found": words,
            "left": left,
            "unanswered": found.unanswered,
        }
        say_as_json(told)
        raise typer.Exit(1 if faults else 0)
    done = "would remove" if dry_run else "tried to remove" if faults else "removed"
    for line in words:
        say(f"{done} {line}")
    for line in found.unanswered:
        say(f"could not look into {line}", err=True)
    if not words:
        say("nothing was left" if not found.unanswered else "nothing else was left")
    for fault in faults[1:]:
        say(str(fault), err=True)
    if faults:
        raise faults[0]
