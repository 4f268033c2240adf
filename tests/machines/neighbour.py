"""A machine beside this one, as a network namespace with a link to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from tare.machines import neighbours

NEIGHBOUR, HERE = "198.51.100.2", "198.51.100.1"
"""of a range that is set aside for documentation (RFC 5737)"""


def a_neighbour() -> Iterator[str]:
    """A network namespace with a link to this machine, over which it sends what is for units."""
    name = f"tare-test-{os.getpid()}"
    device, peer = f"tt{os.getpid()}", "tt"
    steps = [
        f"netns add {name}",
        f"link add {device} type veth peer name {peer} netns {name}",
        f"addr add {HERE}/30 dev {device}",
        f"link set {device} up",
        f"-n {name} addr add {NEIGHBOUR}/30 dev {peer}",
        f"-n {name} link set {peer} up",
        f"-n {name} route add {neighbours.OURS} via {HERE}",
    ]
    try:
        for step in steps:
            subprocess.run(["ip", *step.split()], check=True)
        yield name
    finally:
        subprocess.run(["ip", "link", "del", device], check=False)
        subprocess.run(["ip", "netns", "del", name], check=False)


def reaches(neighbour: str, address: str, port: int) -> bool:
    attempt = f"import socket; socket.create_connection(({address!r}, {port}), 1)"
    command = ["ip", "netns", "exec", neighbour, sys.executable, "-c", attempt]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
