"""Keeps neighbours on the network from what units listen on: databases without passwords.

An address of the loopback device can be reached by a neighbour who sends its packets here, and so
can a container behind a published port: Linux answers on every interface for every address that it
has, and Docker forwards to a published port whatever comes in. One rule of the raw table drops what
comes from another interface than loopback, from another address than a unit's own network.
"""

from __future__ import annotations

import shutil
import subprocess

OURS = "198.18.0.0/15"
"""addresses of units and their container networks (RFC 2544, benchmarking)"""
RULE = f"! -i lo ! -s {OURS} -d {OURS} -m comment --comment tare -j DROP"
REMEDY = "run as root with iptables"


def cannot() -> str:
    """Why the rule cannot be put there; empty: it can."""
    return _iptables("-S", "PREROUTING")


def keep_out() -> str:
    """Put the rule there; empty, or why it is not."""
    return "" if kept_out() else _iptables("-I", "PREROUTING", *RULE.split())


def kept_out() -> bool:
    """Whether the rule is there."""
    return _iptables("-C", "PREROUTING", *RULE.split()) == ""


def let_in() -> None:
    """Take the rule away, where it is there."""
    if kept_out():
        _iptables("-D", "PREROUTING", *RULE.split())


def _iptables(*words: str) -> str:
    """Empty, or why it failed."""
    if shutil.which("iptables") is None:
        return "iptables is missing (apt-get install iptables)"
    command = ["iptables", "-w", "5", "-t", "raw", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or f"status {done.returncode}"
