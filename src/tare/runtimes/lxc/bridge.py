"""The bridge of one group of containers: made, numbered, found again by its label, removed.

LXC makes veth pairs and joins them to a bridge, but makes no bridge. Debian's lxc-net makes one for
the whole machine, with a DHCP server; these are made as it makes its own, one for each group.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING

from tare import starter
from tare.machines import cgroups, neighbours
from tare.machines.addresses import FIRST_NODE, bridge_of
from tare.machines.ip_command import ip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ipaddress import IPv4Address, IPv4Network

_GROUP = "7742"
"""number of the group of devices that the bridges are in from their first moment: an alias, which
names the run, can only be given to a device that is there"""
_ip = partial(ip, remedy="run as root; `tare clean` removes the bridges of dead runs")


@dataclass(frozen=True)
class Bridge:
    """A bridge of this machine.

    Attributes:
        nodes: the next addresses for nodes, each once.
        clients: the same for clients, in turn: every trial has clients of its own.
    """

    name: str
    network: IPv4Network
    nodes: Iterator[IPv4Address]
    clients: Iterator[IPv4Address]

    @property
    def gateway(self) -> IPv4Address:
        return self.network[1]


def make(run: str, network: IPv4Network) -> Bridge:
    """A bridge with the first address of this network.

    Its own hardware address stays when containers come and go, so that neighbours' tables stay
    true. Containers on it reach each other where the machine drops what it does not know.

    Raises:
        RuntimeUnavailableError: it cannot be made.
    """
    name, address = bridge_of(network), f"02:42:{network.network_address.packed.hex(':')}"
    _ip("link", "add", "name", name, "address", address, "group", _GROUP, "type", "bridge")
    try:
        _ip("link", "set", "dev", name, "alias", cgroups.of_run(run))
        _ip("address", "add", f"{network[1]}/{network.prefixlen}", "dev", name)
        _ip("link", "set", "dev", name, "up")
        neighbours.let_through(name)
    except BaseException:
        remove(name)
        raise
    return of(name, network)


def of(name: str, network: IPv4Network) -> Bridge:
    """A bridge that is there."""
    hosts = list(network.hosts())
    return Bridge(name, network, iter(hosts[FIRST_NODE:]), cycle(hosts[1:FIRST_NODE]))


def remove(name: str) -> None:
    """Remove a bridge, with the ends of veth pairs on it, and its rule."""
    neighbours.let_through_no_more(name)
    _ip("link", "delete", "dev", name, check=False)


def leftovers() -> list[str]:
    """The bridges of dead runs, by group and label."""
    if shutil.which("ip") is None:
        return []
    told = _ip("-json", "link", "show", "group", _GROUP, "type", "bridge", check=False)
    # of other devices it gives empty objects; without a label, its maker died before it gave one
    found = [one for one in json.loads(told or "[]") if one.get("ifname")]
    marks = {one["ifname"]: cgroups.mark_in(one.get("ifalias", "")) for one in found}
    return [
        name
        for name, mark in marks.items()
        if name.startswith(neighbours.BRIDGES) and (not mark or starter.without_owner(mark))
    ]
