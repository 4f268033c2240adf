"""Addresses of this machine for units: loopback ones, and labelled ones that NAT can reach.

Units on the host's network listen on 127.190.0.0/16. Published ports need an address that is
not loopback, because Docker leaves 127.0.0.0/8 out of its DNAT rule. A client inside a bridged
container cannot reach loopback at all. For both, addresses of 198.18.x.y are put on the loopback
device under a label, so that they exist on this machine only and can be found again after a crash.
This is one half of the range that neighbours are kept from; the other half (198.19.x.y) numbers the
container networks.
"""

from __future__ import annotations

import json
import shutil
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.machines import neighbours
from tare.machines.ip_command import ip

if TYPE_CHECKING:
    from collections.abc import Callable

LABEL = "lo:tare"
EXPOSED = "neighbours on this machine's network can reach the databases, which have no passwords"
_HOSTS, _NETWORKS = neighbours.OURS.subnets()
_IN_TURN = list(_NETWORKS.subnets(new_prefix=24))[:254]
FIRST_NODE = 99
"""place of the first node's address among those of a container network; clients have those below"""
_ip = partial(ip, remedy="run as root, or use network: host")


class AddressPool:
    """Hands out addresses and container networks, each once within a run."""

    def __init__(self, say: Callable[[str], None] = lambda _: None) -> None:
        """Nothing is claimed yet.

        Args:
            say: told where neighbours on the network cannot be kept out, and why.
        """
        self._say = say
        self._loopback = 0
        self._host = 0
        self._network = 0
        self._claimed: list[str] = []
        self._guarded = self._warned = False

    def loopback(self) -> str:
        """The next address of 127.190.0.0/16. Nothing needs to be set up for it."""
        self._loopback += 1
        return str(IPv4Address("127.190.0.0") + self._loopback)

    def host(self) -> str:
        """The next address of 198.18.x.y, put on the loopback device under our label.

        Neighbours on the network are kept from it.

        Raises:
            RuntimeUnavailableError: without the right to add addresses.
        """
        self.guard()
        self._host += 1
        address = str(_HOSTS[self._host])
        _ip("addr", "add", f"{address}/32", "dev", "lo", "label", LABEL)
        self._claimed.append(address)
        return address

    def network(self) -> IPv4Network:
        """The next /24 of 198.19.x.y for a container network; they are used in turn."""
        chosen = _IN_TURN[self._network % len(_IN_TURN)]
        self._network += 1
        return chosen

    def guard(self) -> None:
        """Keep neighbours on the network from all addresses; say once if that is impossible."""
        if self._guarded:
            return
        why = neighbours.keep_out()
        self._guarded = why == ""
        if why and not self._warned:
            self._warned = True
            self._say(f"{EXPOSED}: {why} (try: {neighbours.REMEDY})")

    def release(self) -> None:
        """Remove every claimed address from the machine."""
        if self._guarded:
            neighbours.let_in()
            self._guarded = False
        while self._claimed:
            _ip("addr", "del", f"{self._claimed.pop()}/32", "dev", "lo", check=False)


def can_claim() -> str | None:
    """None when labelled addresses can be added here, else the reason why not."""
    if shutil.which("ip") is None:
        return "the ip command is missing (apt-get install iproute2)"
    try:
        probe = _HOSTS[-2]
        _ip("addr", "add", f"{probe}/32", "dev", "lo", "label", LABEL)
        _ip("addr", "del", f"{probe}/32", "dev", "lo")
    except RuntimeUnavailableError as error:
        return error.why
    return None


def leftovers() -> list[str]:
    """Addresses that a dead run left on the loopback device, found by label."""
    if shutil.which("ip") is None:
        return []
    text = _ip("-json", "-4", "addr", "show", "dev", "lo")
    found: list[str] = []
    for device in json.loads(text or "[]"):
        found += [
            entry["local"]
            for entry in device.get("addr_info", [])
            if entry.get("label") == LABEL and "local" in entry
        ]
    return found


def bridge_of(network: IPv4Network) -> str:
    """The name of a container network's bridge."""
    return f"{neighbours.BRIDGES}{network.network_address.packed[2]}"


def remove(addresses: list[str]) -> None:
    """Take labelled addresses off the loopback device."""
    for address in addresses:
        _ip("addr", "del", f"{address}/32", "dev", "lo", check=False)
