"""`tare machines`: the inventory's hosts as they were read, and what they need."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli.console import say, say_as_json
from tare.cli.options import Json
from tare.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.machines.inventory.host import Host, Inventory
    from tare.machines.prepare.run import PrepareOutcome

app = typer.Typer(
    help="The hosts of the inventory (TARE_INVENTORY), and what they need.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_hosts(json: Json = False) -> None:
    """Show the hosts as the inventory has them; none is asked."""
    from tare.cli.doctor_machines import inventory_here

    inventory = inventory_here()
    told = [_as_dict(one, inventory) for one in inventory.hosts]
    if json:
        notes = list(inventory.notes)
        document = {"inventory": str(inventory.source), "notes": notes, "hosts": told}
        say_as_json(document)
        return
    for note in inventory.notes:
        say(f"note: {note}")
    for one in told:
        login = f"{one['user']}@" if one["user"] else ""
        sudo = ", sudo" if one["sudo"] else ""
        where = f"{login}{one['address']} port {one['port']}{sudo}"
        say(f"{one['name']}: {where}; takes {one['takes']}; {one['directory']}")


@app.command("prepare")
def prepare_hosts(
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", help="More than the usual: docker, java.", metavar="STEP"),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", help="Less: directory, programs, clock.", metavar="STEP"),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Change the hosts; else only say how.")
    ] = False,
    json: Json = False,
) -> None:
    """Give hosts what Tare needs there.

    That is its directory, a few programs, a daemon for the clock.

    By pyinfra. Without --yes nothing is changed. A host that has everything is left alone.
    """
    from tare.cli.doctor_machines import inventory_here
    from tare.machines.prepare.run import STEPS, USUAL, prepare

    asked = {*USUAL, *_known(with_, STEPS)} - _known(without, STEPS)
    steps = [one for one in STEPS if one in asked]
    inventory = inventory_here()
    outcome = prepare(inventory.hosts, steps, change=yes)
    if json:
        told = {"changed": yes, "hosts": [asdict(one) for one in outcome.hosts]}
        say_as_json({**told, "said": outcome.said})
    else:
        _show(outcome, yes)
    reached = all(one.reached for one in outcome.hosts)
    if not reached or (yes and not outcome.done):
        raise typer.Exit(1)


def _show(outcome: PrepareOutcome, changed: bool) -> None:
    for one in outcome.hosts:
        if not one.reached:
            say(f"{one.host}: not reached; `tare doctor --machines` says why")
        for change in one.changes:
            say(f"{one.host}: {'not done: ' if changed else 'would '}{change}")
        for note in one.notes:
            say(f"{one.host}: {note}")
        if one.reached and not one.changes and not one.notes:
            say(f"{one.host}: has everything")
    if outcome.said:
        say(outcome.said)
    if not changed and any(one.changes for one in outcome.hosts):
        say("nothing was changed\n  try: the same with --yes")


def _known(words: list[str] | None, steps: Sequence[str]) -> set[str]:
    for one in words or []:
        if one not in steps:
            raise UsageError(f"there is no step {one!r}", remedy=f"one of {', '.join(steps)}")
    return set(words or [])


def _as_dict(one: Host, inventory: Inventory) -> dict[str, object]:
    return {
        "name": one.name,
        "address": one.address,
        "port": one.port,
        "user": one.user,
        "key": str(one.key) if one.key else None,
        "known_hosts": str(one.known_hosts) if one.known_hosts else None,
        "sudo": one.sudo,
        "service": one.service_address,
        "directory": str(one.directory),
        "groups": sorted(one.groups),
        "takes": inventory.takes(one),
    }
