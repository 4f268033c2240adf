"""Which machines a plan's units will take, hosts and virtual ones, in lines for people."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tare.enumeration import count as counted
from tare.machines.inventory.read import named_inventory
from tare.machines.registry import declared
from tare.study.domains import domains_of
from tare.study.quantities import MIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.machines.inventory.host import Host
    from tare.study.plan import Plan


def taken_hosts(plan: Plan) -> list[str]:
    """The hosts in the order in which they are taken; empty: no unit is on a host."""
    setups = [one.setup for one in plan.conditions]
    sizes: dict[str, int] = {}
    for one in setups:
        if one.platform.source.from_inventory:
            group = one.platform.hosts
            sizes[group] = max(sizes.get(group, 0), one.database.nodes)
    loads = any(one.client.source.from_inventory for one in setups)
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


def made_domains(plan: Plan) -> list[str]:
    """The virtual machines that are made for a plan, and of which kind; empty: none."""
    made = domains_of(plan.conditions, plan.study.design, len(os.sched_getaffinity(0)))
    lines: list[str] = []
    told = ""
    for one in made:
        if one.machines != told:
            told = one.machines
            lines += declared(told).in_plan()
        on = f" on {one.cpuset} of this machine" if one.cpuset else ""
        engine = ", with a Docker engine" if one.engine else ""
        lines.append(
            f"  {one.group}: {counted(one.count, 'domain')}, each {counted(one.cpus, 'CPU')}{on}, "
            f"{one.memory // MIB} MiB of memory, disk {one.domain.format}, "
            f"cache {one.domain.cache}, network {one.domain.network}{engine}"
        )
    return lines


def _named(hosts: Sequence[Host]) -> str:
    return ", ".join(
        one.name if one.name == one.address else f"{one.name} ({one.address})" for one in hosts
    )
