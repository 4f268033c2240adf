"""The declaration of an inventory's hosts, which SSH reaches: bare metal, virtual machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.machines.declaration import MachinesDeclaration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.machines.declaration import Wanted
    from tare.machines.inventory.host import Inventory
    from tare.runtimes.obstacle import Obstacle
    from tare.study.schema import Setup

_NAME_INVENTORY = (
    "name one with TARE_INVENTORY, Ansible's or one of two lines (docs/machines.md); "
    "`tare doctor --machines` says whether its hosts can be used"
)


class OverSsh(MachinesDeclaration):
    """Hosts of an inventory."""

    name = "ssh"
    title = "hosts over SSH"
    in_words = (
        "hosts of the inventory that SSH reaches, one for each node; those for clients share the "
        "load and start at one instant"
    )
    from_inventory = True
    for_clients = True

    def obstacles(self, wanted: Wanted) -> Iterator[Obstacle]:
        from tare.machines.inventory.host import NONE_NAMED
        from tare.runtimes.obstacle import Obstacle

        setup, inventory = wanted.setup, wanted.inventory
        if inventory is None:
            yield Obstacle((wanted.part, "machines"), NONE_NAMED, _NAME_INVENTORY)
        elif wanted.part == "platform":
            yield from _of_nodes(setup, inventory)
        else:
            yield from _of_clients(setup, inventory)


def _of_nodes(setup: Setup, inventory: Inventory) -> Iterator[Obstacle]:
    from tare.machines.nodes_apart import not_brought
    from tare.runtimes.obstacle import Obstacle

    platform = setup.platform
    wanted, there = setup.database.nodes, len(inventory.nodes)
    if not platform.hosts and wanted > there:
        why = f"{wanted} database nodes, each on a host of its own, where the inventory has {there}"
        remedy = f"add hosts to the group `nodes` of {inventory.source}"
        yield Obstacle(("platform", "machines"), why, remedy)
    own = inventory.nodes_of(platform.hosts)
    six = [one.name for one in own if ":" in one.service_address]
    if six:
        why = f"{', '.join(six)}: this version reaches databases by IPv4 only"
        remedy = f"give these hosts a name or an IPv4 address as service in {inventory.source}"
        yield Obstacle(("platform", "machines"), why, remedy)
    yield from not_brought(setup)


def _of_clients(setup: Setup, inventory: Inventory) -> Iterator[Obstacle]:
    from tare.machines.registry import HERE
    from tare.runtimes.obstacle import Obstacle

    if not inventory.clients:
        why = "the inventory has no host for load clients"
        remedy = f"add a group `clients` to {inventory.source}, or set client.machines to {HERE}"
        yield Obstacle(("client", "machines"), why, remedy)
    if setup.client.network != "host":
        why = "this version gives clients on other hosts the hosts' own network"
        yield Obstacle(("client", "network"), why, "set client.network to host")
    if setup.client.tool != "tare":
        why = f"this version does not bring {setup.client.tool} to other hosts"
        remedy = f"set client.machines to {HERE}, or load it with `tare load`"
        yield Obstacle(("client", "tool"), why, remedy)


DECLARED = OverSsh()
