"""A neighbouring machine: a network namespace with a link to this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from tare.machines import neighbours

NEIGHBOUR, HERE = "198.51.100.2", "198.51.100.1"
"""from a range reserved for documentation (RFC 5737)"""
FORGED = "198.19.250.9"
"""another address of the neighbour, from the range that Tare gives its containers"""


def a_neighbour(device: str = f"tt{os.getpid()}") -> Iterator[str]:
    """A network namespace that reaches units' addresses over a link to this machine.

    Args:
        device: this machine's end of the link.
    """
    name = f"tare-test-{os.getpid()}"
    peer = "tt"
    steps = [
        f"netns add {name}",
        f"link add {device} type veth peer name {peer} netns {name}",
        f"addr add {HERE}/30 dev {device}",
        f"link set {device} up",
        f"-n {name} addr add {NEIGHBOUR}/30 dev {peer}",
        f"-n {name} addr add {FORGED}/32 dev {peer}",
        f"-n {name} link set {peer} up",
        f"-n {name} route add {neighbours.OURS} via {HERE}",
        f"route add {FORGED}/32 dev {device}",  # the route for replies
    ]
    try:
        for step in steps:
            subprocess.run(["ip", *step.split()], check=True)
        yield name
    finally:
        subprocess.run(["ip", "link", "del", device], check=False)
        subprocess.run(["ip", "netns", "del", name], check=False)


def reaches(neighbour: str, address: str, port: int, source: str = NEIGHBOUR) -> bool:
    attempt = f"import socket; socket.create_connection({(address, port)!r}, 1, {(source, 0)!r})"
    command = ["ip", "netns", "exec", neighbour, sys.executable, "-c", attempt]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
