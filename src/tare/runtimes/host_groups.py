"""Whether a study's groups of hosts can be compared: they exist, suffice, and share no host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.machines.inventory.host import CLIENTS, NODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tare.machines.inventory.host import Inventory
    from tare.study.schema import Setup

_HOSTS = ("platform", "hosts")


@dataclass(frozen=True)
class GroupFault:
    """Why a setup's hosts are not available as the study wants them."""

    field: tuple[str, ...]
    why: str
    remedy: str


def group_faults(
    setup: Setup, setups: Sequence[Setup], inventory: Inventory
) -> Iterator[GroupFault]:
    """What is wrong with the hosts of a setup's nodes, before any is asked.

    Args:
        setup: one condition's.
        setups: of all conditions that are run, in their order.
        inventory: the hosts that are named here.
    """
    if not setup.platform.source.from_inventory:
        return
    group = setup.platform.hosts
    own = inventory.nodes_of(group)
    if group and not own:
        why = f"no host of {inventory.source} is in a group {group}"
        yield GroupFault(_HOSTS, why, inventory.instead_of(group))
        return
    if group and len(own) < setup.database.nodes:
        why = f"{setup.database.nodes} database nodes, each on a host of its own, where the group "
        why += f"{group} of {inventory.source} has {len(own)}"
        remedy = f"add hosts to the group {group}, or lower database.nodes"
        yield GroupFault(_HOSTS, why, remedy)
    yield from _shared(group, setups, inventory)


def _shared(group: str, setups: Sequence[Setup], inventory: Inventory) -> Iterator[GroupFault]:
    """Hosts that belong to an earlier group of the study too, or take load clients."""
    names = {one.name for one in inventory.nodes_of(group)}
    measured = [one.platform.hosts for one in setups if one.platform.source.from_inventory]
    for other in dict.fromkeys(measured[: measured.index(group)]):
        both = [one.name for one in inventory.nodes_of(other) if one.name in names]
        if both:
            why = f"{_listed(both)} in the groups {other or NODES} and {group or NODES}, which the "
            why += "study compares: of one machine there is nothing to compare"
            remedy = "take each host out of one of the two groups"
            yield GroupFault(_HOSTS, why, remedy)
    loaded = [one for one in inventory.clients if one.name in names]
    if loaded and any(one.client.source.from_inventory for one in setups):
        both = [one.name for one in loaded]
        why = (
            f"{_listed(both)} for database nodes and for load clients: a client takes part of the "
        )
        why += "machine that is measured"
        remedy = f"take them out of one of the groups {group or NODES} and {CLIENTS}"
        if group == CLIENTS:
            remedy = "name another group in platform.hosts"
        elif not any(CLIENTS in one.groups for one in inventory.hosts):
            remedy = f"make a group {CLIENTS} of other hosts in {inventory.source}"
        yield GroupFault(("client", "machines"), why, f"{remedy}, or set client.machines to local")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
