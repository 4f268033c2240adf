"""macvtap: the device of each domain lies directly on one lower device, without a bridge.

The lower device is one end of a veth pair, because domains and clients are on one machine: on a
network card macvtap keeps a machine from talking to its own guests. This machine's own device is a
macvlan on the same end, in the same mode (`bridge`).
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.machines import neighbours
from tare.machines.kvm.network import SYSFS, Card, Network, device, ip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LOWER, _PEER = "tare-lower0", "tare-lower1"


class Macvtap(Network):
    """Domains with macvtap devices on a veth pair's end."""

    name = "macvtap"
    device = f"{neighbours.BRIDGES}-macvtap"
    owned = _LOWER
    addresses = IPv4Network("198.19.254.0/24")

    @contextmanager
    def card(self, number: int, hardware: str, directory: Path) -> Iterator[Card]:
        name, node = device(number), directory / "tap"
        if (SYSFS / name).exists():  # of the domain's life before: it outlives its QEMU
            ip("link", "del", name)
        mode = ("type", "macvtap", "mode", "bridge")
        ip("link", "add", "link", _LOWER, "name", name, "address", hardware, *mode)
        ip("link", "set", name, "up")
        opened = _opened(name, node)
        try:
            yield Card(f"tap,id=net,fd={opened}", (opened,))
        finally:
            os.close(opened)

    def _build(self) -> None:
        ip("link", "add", _LOWER, "type", "veth", "peer", "name", _PEER)
        ip("link", "set", _LOWER, "up")
        ip("link", "set", _PEER, "up", "arp", "off")  # else it answers in this machine's place
        mode = ("type", "macvlan", "mode", "bridge")
        ip("link", "add", "link", _LOWER, "name", self.device, *mode)

    def _take_back(self) -> None:
        """Nothing: domains' devices went with the lower one, and are made when a domain starts."""

    def _forget(self) -> None:
        """Nothing: all of its devices go with the lower one."""


def _opened(name: str, node: Path) -> int:
    """The character device behind a macvtap device, opened by a node of our own.

    Nobody has to make nodes in /dev for it, as udev would.
    """
    node.unlink(missing_ok=True)
    try:
        (numbers,) = SYSFS.joinpath(name).glob("tap*/dev")
        major, minor = map(int, numbers.read_text(encoding="ascii").split(":"))
        os.mknod(node, stat.S_IFCHR | 0o600, os.makedev(major, minor))
        return os.open(node, os.O_RDWR)
    except (OSError, ValueError) as error:
        raise RuntimeUnavailableError(
            "no macvtap for virtual machines",
            where=f"{name}, {node}",
            why=str(error),
            remedy="a cache on a file system that is not mounted with nodev (TARE_CACHE), or "
            "platform.domain.network: bridge",
        ) from error
