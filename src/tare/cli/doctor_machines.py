"""`tare doctor --machines`: which hosts of the inventory can be used, and what helps the others."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from tare.cli.console import Terminal, say_as_json
from tare.errors import InventoryError
from tare.machines.checkup import Checked, check_hosts
from tare.machines.inventory.host import NONE_NAMED
from tare.machines.inventory.read import VARIABLE, named_inventory

if TYPE_CHECKING:
    from tare.machines.inventory.host import Inventory


def inventory_here() -> Inventory:
    """The inventory named on this machine.

    Raises:
        InventoryError: no inventory is named, or it cannot be used.
    """
    found = named_inventory()
    if found is None:
        raise InventoryError(
            NONE_NAMED,
            remedy=f"export {VARIABLE}=FILE, Ansible's or one of two lines (docs/machines.md)",
        )
    return found


def machines(json: bool) -> None:
    """Check all hosts and print the result; exit status 1 if one cannot be used.

    Raises:
        InventoryError: no inventory is named, or it cannot be used.
    """
    inventory = inventory_here()
    found = check_hosts(inventory)
    if json:
        told = {
            "inventory": str(inventory.source),
            "notes": list(inventory.notes),
            "hosts": [_as_dict(one) for one in found],
        }
        say_as_json(told)
    else:
        _show(inventory, found)
    if not all(one.ready for one in found):
        raise typer.Exit(1)


def _show(inventory: Inventory, found: list[Checked]) -> None:
    console = Terminal()
    for note in inventory.notes:
        console.print(f"note    {note}", soft_wrap=True)
    for one in found:
        verdict = Text("ready", "green") if one.ready else Text("not ready", "red")
        console.print(verdict, f" {one.host}, takes {one.takes}", sep="", soft_wrap=True)
        for point in one.points:
            mark = "ok     " if point.ok else ("missing" if point.needed else "note   ")
            console.print(f"    {mark} {point.what}: {point.says}", soft_wrap=True)
        if one.next:
            console.print(f"    try: {one.next}", soft_wrap=True)


def _as_dict(one: Checked) -> dict[str, Any]:
    clock = None
    if one.clock is not None:
        clock = {
            **asdict(one.clock),
            "sure": one.clock.sure,
            "sure_in_slices": one.clock.sure_in_slices,
        }
    return {
        "name": one.host.name,
        "address": one.host.address,
        "takes": one.takes,
        "ready": one.ready,
        "next": one.next,
        "points": [asdict(point) for point in one.points],
        "facts": asdict(one.facts) if one.facts else None,
        "clock": clock,
    }
