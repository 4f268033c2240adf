"""Keeps neighbours on the network from what units listen on: databases without passwords.

An address of the loopback device can be reached by a neighbour who sends its packets here, and so
can a container behind a published port: Linux answers on every interface for every address that it
has, and Docker forwards to a published port whatever comes in. Two rules of the raw table let in
what comes from a bridge of Tare's own, and drop what comes from another device than loopback. They
ask for devices alone: a source address can be forged.
"""

from __future__ import annotations

import shutil
import subprocess
from ipaddress import IPv4Network
from pathlib import Path

OURS = IPv4Network("198.18.0.0/15")
"""addresses of units and their container networks (RFC 2544, benchmarking)"""
BRIDGES = "tare-br"
"""what the names of bridges of Tare's own networks begin with"""
RULES = (
    f"-i {BRIDGES}+ -d {OURS} -m comment --comment tare -j ACCEPT",
    f"! -i lo -d {OURS} -m comment --comment tare -j DROP",
)
"""in their order"""
REMEDY = "run as root with iptables"
_BRIDGE_FILTER = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")


def bridges_filtered() -> bool:
    """Whether what a bridge passes from port to port goes through the firewall's rules."""
    try:
        return _BRIDGE_FILTER.read_text(encoding="ascii").strip() == "1"
    except OSError:
        return False


def cannot() -> str:
    """Why the rules cannot be put there; empty: they can."""
    return _iptables("-S", "PREROUTING")


def keep_out() -> str:
    """Put the rules there; empty, or why they are not."""
    if kept_out() == [*RULES]:
        return ""
    let_in()
    for rule in reversed(RULES):  # each goes before all others
        if why := _iptables("-I", "PREROUTING", *rule.split()):
            let_in()
            return why
    return ""


def kept_out() -> list[str]:
    """Those of the rules that are there."""
    return [rule for rule in RULES if not _iptables("-C", "PREROUTING", *rule.split())]


def let_in() -> None:
    """Take the rules away, where they are there."""
    for rule in kept_out():
        _iptables("-D", "PREROUTING", *rule.split())


def _iptables(*words: str) -> str:
    """Empty, or why it failed."""
    if shutil.which("iptables") is None:
        return "iptables is missing (apt-get install iptables)"
    command = ["iptables", "-w", "5", "-t", "raw", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or f"status {done.returncode}"
