"""What listens on an address of a unit is out of reach for a machine beside this one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tare.machines import neighbours
from tare.machines.addresses import AddressPool

NEIGHBOUR, HERE = "198.51.100.2", "198.51.100.1"
"""of a range that is set aside for documentation (RFC 5737)"""

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None or neighbours.cannot() != "",
    reason="needs root, ip and iptables; `sudo make test` runs it",
)


@pytest.fixture
def neighbour() -> Iterator[str]:
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


@pytest.fixture
def pool() -> Iterator[AddressPool]:
    pool = AddressPool()
    yield pool
    pool.release()


def reaches(neighbour: str, address: str, port: int) -> bool:
    attempt = f"import socket; socket.create_connection(({address!r}, {port}), 1)"
    command = ["ip", "netns", "exec", neighbour, sys.executable, "-c", attempt]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_unit_is_reached_from_here_and_not_by_a_neighbour(
    neighbour: str, pool: AddressPool
) -> None:
    address = pool.host()
    with socket.create_server((address, 0)) as unit:
        port = unit.getsockname()[1]
        socket.create_connection((address, port), 1).close()
        assert not reaches(neighbour, address, port)
        neighbours.let_in()
        assert reaches(neighbour, address, port), "the rule is what keeps it out"


def test_the_rule_is_there_while_addresses_are_and_no_longer(pool: AddressPool) -> None:
    assert not neighbours.kept_out()
    pool.host()
    assert neighbours.kept_out()
    pool.release()
    assert not neighbours.kept_out()
