"""The bridge of all domains: this machine has one, as one run holds the machine at a time."""

from __future__ import annotations

import shutil
import subprocess
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from tare.errors import RuntimeUnavailableError
from tare.machines import neighbours
from tare.starter import mark, without_owner

NETWORK = IPv4Network("198.19.255.0/24")
"""behind the container networks, in the range that neighbours are kept from"""
BRIDGE = f"{neighbours.BRIDGES}-kvm"
_DEVICES = "tare-vm"
"""prefix of the names of domains' network devices"""
_CLASS = Path("/sys/class/net")
_FIRST = 10
MOST = 200
"""number of domains for which there are addresses"""
_RULE = f"-i {BRIDGE} -o {BRIDGE} -m comment --comment tare -j ACCEPT".split()
ATTACH = f'#!/bin/sh\nPATH=$PATH:/usr/sbin:/sbin\nip link set "$1" master {BRIDGE} up\n'
"""the script by which QEMU puts a domain's device on the bridge; the device goes with QEMU"""


def address(number: int) -> IPv4Address:
    """Of the domain of this number, from 0."""
    return NETWORK[_FIRST + number]


def device(number: int) -> str:
    """Name of the network device, here, of the domain of this number."""
    return f"{_DEVICES}{number}"


def make() -> str:
    """Make the bridge for this process; empty, or why neighbours are not kept from it.

    Raises:
        RuntimeUnavailableError: it cannot be made, or another live process has it.
    """
    remove()
    if _there():
        raise RuntimeUnavailableError(
            "no bridge for virtual machines",
            where=BRIDGE,
            why=f"another process of Tare's has it ({_owner()})",
            remedy=f"wait for it; ip link del {BRIDGE} if it is none that runs",
        )
    _ip("link", "add", BRIDGE, "type", "bridge", "forward_delay", "0")
    _ip("link", "set", BRIDGE, "alias", mark())
    _ip("addr", "add", f"{NETWORK[1]}/{NETWORK.prefixlen}", "dev", BRIDGE)
    _ip("link", "set", BRIDGE, "up")
    # else a Docker engine's firewall keeps domains from each other
    if neighbours.bridges_filtered():
        _iptables("-I", "FORWARD", *_RULE)
    return neighbours.keep_out()


def mend() -> None:
    """Make the bridge again if it is gone, and put running domains back on it.

    Raises:
        RuntimeUnavailableError: it cannot be made.
    """
    if _there():
        return
    make()
    for one in sorted(_CLASS.glob(f"{_DEVICES}*")):
        _ip("link", "set", one.name, "master", BRIDGE, "up")


def remove() -> None:
    """Take the bridge away, and its rule, where they are there and no other process has them."""
    if _there() and not left():
        return
    if _there():
        subprocess.run(["ip", "link", "del", BRIDGE], capture_output=True, check=False)
    while _iptables("-C", "FORWARD", *_RULE):
        _iptables("-D", "FORWARD", *_RULE)
    neighbours.let_in()


def left() -> list[str]:
    """The bridge by its name, where it is there and no other process that runs has it."""
    owner = _owner()
    return [BRIDGE] if _there() and (not owner or without_owner(owner)) else []


def _there() -> bool:
    return (_CLASS / BRIDGE).exists()


def _owner() -> str:
    """The mark of the process that made it; empty: it was killed before it said so."""
    try:
        return (_CLASS / BRIDGE / "ifalias").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _iptables(*words: str) -> bool:
    if shutil.which("iptables") is None:
        return False
    command = ["iptables", "-w", "5", *words]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _ip(*words: str) -> None:
    try:
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    except OSError as error:
        raise RuntimeUnavailableError(
            "no bridge for virtual machines", why=str(error), remedy="apt-get install iproute2"
        ) from error
    if done.returncode != 0:
        raise RuntimeUnavailableError(
            "no bridge for virtual machines",
            where=f"ip {' '.join(words)}",
            why=done.stderr.strip(),
            remedy="run as root, and see that nothing else uses 198.19.255.0/24 (ip route)",
        )
