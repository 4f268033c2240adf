"""Setups that this version cannot run on any machine, each with the reason and the remedy."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tare.runtimes.obstacle import Obstacle
from tare.runtimes.registry import declared
from tare.study.platform import KVM, OVER_SSH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tare.machines.inventory.host import Inventory
    from tare.machines.kvm.missing import Missing
    from tare.runtimes.declaration import Named
    from tare.study.schema import Setup

_NO_INVENTORY = "no inventory of hosts is named here"
_NAME_INVENTORY = (
    "name one with TARE_INVENTORY, Ansible's or one of two lines (docs/machines.md); "
    "`tare doctor --machines` says whether its hosts can be used"
)
_ELSEWHERE = "measure it with another load generator and bring its files in with `tare import`"
_INSIDE = (
    "have such machines as hosts of a group (platform.machines: ssh and platform.hosts, "
    "docs/machines.md), or KVM's in their place (platform.machines: kvm), or run the other "
    "conditions once on the physical machine and once inside the virtual one, each by its own "
    "Tare, then `tare compare` both runs"
)
_SAME_LOAD = (
    "; give both the same fixed threads or rate (`--scale printed` where the study has it, else in "
    "its file), since each run would search a maximum of its own"
)
_NAMES = {"vmware": "VMware"}


def obstacle(
    setup: Setup,
    named: Mapping[str, Named] = MappingProxyType({}),
    inventory: Inventory | None = None,
    no_domains: Callable[[], Missing | None] = lambda: None,
) -> Obstacle | None:
    """What hinders this setup in this version; None where nothing does.

    Args:
        setup: one condition's.
        named: the orchestrators that are named here, by the runtime's name.
        inventory: the hosts that are named here; None: none are.
        no_domains: why this machine makes no virtual ones, asked only if the setup needs them.
    """
    found = list(_obstacles(setup))
    for runtime in dict.fromkeys((setup.platform.runtime, setup.client.runtime)):
        found += declared(runtime).obstacles(setup, named.get(runtime))
    found += _of_hosts(setup, inventory)
    found += _of_domains(setup, no_domains)
    if not found:
        return None
    whys = tuple(dict.fromkeys(one.why for one in found))
    return Obstacle(found[0].field, "; ".join(whys), found[0].remedy, whys)


def _obstacles(setup: Setup) -> Iterator[Obstacle]:
    database, platform = setup.database, setup.platform
    if database.kind == "mongodb":
        yield from _without_server(setup)
        yield from _without_binding(setup)
    if platform.endpoint:
        yield from _of_endpoint(setup)
    if platform.machines not in ("local", *OVER_SSH):
        why = f"this version makes no {_named(platform.machines)} machines"
        remedy = _INSIDE + (_SAME_LOAD if setup.load.sought is not None else "")
        yield Obstacle(("platform", "machines"), why, remedy)
    if platform.address:
        why = f"this version gives machines no {platform.address}"
        yield Obstacle(("platform", "address"), why, _ELSEWHERE)


def _of_endpoint(setup: Setup) -> Iterator[Obstacle]:
    """An endpoint is kept by a client that stays where it was told to go."""
    if setup.client.tool != "tare":
        why = f"{setup.client.tool} may go where nodes say they are, not to their "
        why += setup.platform.endpoint
        remedy = "leave platform.endpoint out, or load it with `tare load`"
        yield Obstacle(("client", "tool"), why, remedy)


def _of_hosts(setup: Setup, inventory: Inventory | None) -> Iterator[Obstacle]:
    platform, client = setup.platform, setup.client
    if "ssh" not in (platform.machines, client.machines):
        return
    place = "platform" if platform.machines == "ssh" else "client"
    if inventory is None:
        yield Obstacle((place, "machines"), _NO_INVENTORY, _NAME_INVENTORY)
        return
    wanted, there = setup.database.nodes, len(inventory.nodes)
    if platform.machines == "ssh" and not platform.hosts and wanted > there:
        why = f"{wanted} database nodes, each on a host of its own, where the inventory has {there}"
        remedy = f"add hosts to the group `nodes` of {inventory.source}"
        yield Obstacle(("platform", "machines"), why, remedy)
    if platform.machines == "ssh":
        own = inventory.nodes_of(platform.hosts)
        six = [one.name for one in own if ":" in one.service_address]
        if six:
            why = f"{', '.join(six)}: this version reaches databases by IPv4 only"
            remedy = f"give these hosts a name or an IPv4 address as service in {inventory.source}"
            yield Obstacle(("platform", "machines"), why, remedy)
        yield from _not_brought(setup)
    if client.machines == "ssh":
        yield from _of_client_hosts(setup, inventory)


def _of_domains(setup: Setup, missing: Callable[[], Missing | None]) -> Iterator[Obstacle]:
    if setup.platform.machines != KVM:
        return
    runtime = declared(setup.platform.runtime)
    if not runtime.on_hosts:
        why = f"this version makes no virtual machines for {runtime.name}"
        yield Obstacle(("platform", "machines"), why, _INSIDE)
    elif (gone := missing()) is not None:
        yield Obstacle(("platform", "machines"), gone.why, gone.remedy)
    yield from _not_brought(setup)
    if setup.platform.network in ("bridge", "published"):
        why = "the engines of virtual machines that Tare makes have no bridge, and publish no ports"
        remedy = "set platform.network to host"
        if setup.platform.network == "published":
            remedy += "; ports are published on hosts of your own (platform.machines: ssh)"
        yield Obstacle(("platform", "network"), why, remedy)
    if setup.client.network != "host":
        why = "this version gives clients of virtual machines this machine's own network"
        yield Obstacle(("client", "network"), why, "set client.network to host")


def _not_brought(setup: Setup) -> Iterator[Obstacle]:
    """Of databases, hosts are brought files, of which an image is made there."""
    database = setup.database
    if database.image is not None and not declared(setup.platform.runtime).in_place:
        why = "this version makes its own image on other hosts, and pulls none there"
        remedy = "leave database.image out"
        if database.kind == "mongodb":
            remedy += ", and set database.home to the directory of a mongod"
        yield Obstacle(("database", "image"), why, remedy)


def _of_client_hosts(setup: Setup, inventory: Inventory) -> Iterator[Obstacle]:
    if not inventory.clients:
        why = "the inventory has no host for load clients"
        remedy = f"add a group `clients` to {inventory.source}, or set client.machines to local"
        yield Obstacle(("client", "machines"), why, remedy)
    if setup.client.network != "host":
        why = "this version gives clients on other hosts the hosts' own network"
        yield Obstacle(("client", "network"), why, "set client.network to host")
    if setup.client.tool != "tare":
        why = f"this version does not bring {setup.client.tool} to other hosts"
        remedy = "set client.machines to local, or load it with `tare load`"
        yield Obstacle(("client", "tool"), why, remedy)


def _without_server(setup: Setup) -> Iterator[Obstacle]:
    """No public package has MongoDB's server: it is the user's own, or an image's, or none.

    The stub stands in for a server that nobody names, and not for one whose image is named: what
    runs in place would be another server than what runs in containers.
    """
    database = setup.database
    if database.home is not None or database.stubbed:
        return
    without = "; without one, database.stand_in: true has the stub in its place, for what the "
    without += "platform costs alone"
    # one reason for both, told once of a study that has both
    why = "MongoDB's server cannot be fetched, and none is named"
    if not declared(setup.platform.runtime).in_place:
        if database.image is None:
            remedy = "set database.image to an image of MongoDB, or database.home to the directory "
            remedy += "of a mongod, of which Tare makes one, then `tare plan` again"
            yield Obstacle(("database", "kind"), why, remedy + without)
    else:
        remedy = "set database.home to the directory of a mongod, then `tare plan` again"
        yield Obstacle(("database", "kind"), why, remedy + without)


def _without_binding(setup: Setup) -> Iterator[Obstacle]:
    """YCSB itself is fetched with its binding for CQL only."""
    if setup.client.tool == "ycsb":
        why = "this version runs YCSB's own client with CQL only"
        remedy = "set client.tool to tare, which sends the same documents, then `tare plan` again"
        yield Obstacle(("client", "tool"), why, remedy)


def _named(word: str) -> str:
    """The word as its owners write it."""
    return _NAMES.get(word, word)
