"""A bridge: QEMU puts the tap device of each domain on it."""

from __future__ import annotations

from contextlib import contextmanager
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from tare.machines import neighbours
from tare.machines.kvm.network import DEVICES, SYSFS, Card, Network, device, ip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BRIDGE = f"{neighbours.BRIDGES}-kvm"
_ATTACH = f'#!/bin/sh\nPATH=$PATH:/usr/sbin:/sbin\nip link set "$1" master {BRIDGE} up\n'


class Bridge(Network):
    """Domains with tap devices on a bridge, which has an address of this machine's."""

    name = "bridge"
    device = owned = BRIDGE
    addresses = IPv4Network("198.19.255.0/24")

    @contextmanager
    def card(self, number: int, hardware: str, directory: Path) -> Iterator[Card]:
        # QEMU makes the device and runs this script; the device goes with QEMU
        attach = directory / "attach"
        attach.write_text(_ATTACH, encoding="ascii")
        attach.chmod(0o700)
        yield Card(f"tap,id=net,ifname={device(number)},script={attach},downscript=no")

    def _build(self) -> None:
        ip("link", "add", BRIDGE, "type", "bridge", "forward_delay", "0")
        neighbours.let_through(BRIDGE)

    def _take_back(self) -> None:
        for one in sorted(SYSFS.glob(f"{DEVICES}*")):
            if (one / "tun_flags").exists():  # a tap device; those of macvtap are not for a bridge
                ip("link", "set", one.name, "master", BRIDGE, "up")

    def _forget(self) -> None:
        neighbours.let_through_no_more(BRIDGE)
