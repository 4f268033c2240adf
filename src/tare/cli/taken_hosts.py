"""Which hosts of the inventory a plan's units will take, in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.machines.inventory.read import named_inventory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.machines.inventory.host import Host
    from tare.study.plan import Plan


def taken_hosts(plan: Plan) -> list[str]:
    """The hosts in the order in which they are taken; empty: this plan has no unit on any."""
    setups = [one.setup for one in plan.conditions]
    sizes: dict[str, int] = {}
    for one in setups:
        if one.platform.machines == "ssh":
            group = one.platform.hosts
            sizes[group] = max(sizes.get(group, 0), one.database.nodes)
    loads = any(one.client.machines == "ssh" for one in setups)
    inventory = named_inventory() if sizes or loads else None
    if inventory is None:
        return []
    lines = [f"hosts of {inventory.source}, whose memory and disk the plan does not ask:"]
    for group, most in sizes.items():
        own = inventory.nodes_of(group)
        if not own:
            continue  # it is refused
        line = f"  {f'{group}: ' if group else ''}a node of each cluster on {_named(own[:most])}"
        lines.append(
            line + (f"; where one is silent, on {_named(own[most:])}" if own[most:] else "")
        )
    if loads:
        lines.append(f"  load clients, which take turns, on {_named(inventory.clients)}")
    return lines


def _named(hosts: Sequence[Host]) -> str:
    return ", ".join(
        one.name if one.name == one.address else f"{one.name} ({one.address})" for one in hosts
    )
