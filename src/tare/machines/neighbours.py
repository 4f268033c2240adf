"""Keeps neighbours on the network from units' addresses: databases without passwords.

A neighbour that sends packets here can reach an address of the loopback device: Linux answers on
every interface for every address that it has. It can also reach a container behind a published
port: Docker forwards everything to it. Two rules of the raw table accept packets from a bridge of
Tare's own, and drop packets from another device than loopback. They check devices only, because a
source address can be forged.
"""

from __future__ import annotations

import shutil
import subprocess
from ipaddress import IPv4Network
from pathlib import Path

OURS = IPv4Network("198.18.0.0/15")
"""addresses of units and their container networks (RFC 2544, benchmarking)"""
BRIDGES = "tare-br"
"""prefix of the names of bridges of Tare's own networks"""
RULES = (
    f"-i {BRIDGES}+ -d {OURS} -m comment --comment tare -j ACCEPT",
    f"! -i lo -d {OURS} -m comment --comment tare -j DROP",
)
"""in their order"""
REMEDY = "run as root with iptables"
_BRIDGE_FILTER = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")


def bridges_filtered() -> bool:
    """Whether packets between ports of a bridge go through the firewall's rules."""
    try:
        return _BRIDGE_FILTER.read_text(encoding="ascii").strip() == "1"
    except OSError:
        return False


def let_through(bridge: str) -> None:
    """Let packets pass between the ports of a bridge of Tare's, where firewalls see these: a Docker
    engine's drops what it does not know."""
    if bridges_filtered():
        _iptables("-I", "FORWARD", *_between_ports(bridge), table="filter")


def let_through_no_more(bridge: str) -> None:
    """Remove the rule of `let_through`, if it is there."""
    _iptables("-D", "FORWARD", *_between_ports(bridge), table="filter")


def _between_ports(bridge: str) -> list[str]:
    return f"-i {bridge} -o {bridge} -m comment --comment tare -j ACCEPT".split()


def cannot() -> str:
    """Why the rules cannot be set; empty: they can."""
    return _iptables("-S", "PREROUTING")


def keep_out() -> str:
    """Set the rules; empty, or why they are not set."""
    if kept_out() == [*RULES]:
        return ""
    let_in()
    for rule in reversed(RULES):  # each goes before all others
        if why := _iptables("-I", "PREROUTING", *rule.split()):
            let_in()
            return why
    return ""


def kept_out() -> list[str]:
    """The rules that are set."""
    return [rule for rule in RULES if not _iptables("-C", "PREROUTING", *rule.split())]


def let_in() -> None:
    """Remove the rules that are set."""
    for rule in kept_out():
        _iptables("-D", "PREROUTING", *rule.split())


def _iptables(*words: str, table: str = "raw") -> str:
    """Empty, or why it failed."""
    if shutil.which("iptables") is None:
        return "iptables is missing (apt-get install iptables)"
    command = ["iptables", "-w", "5", "-t", table, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or f"status {done.returncode}"
