"""On real hosts over SSH: obstacles to a cluster are found before one is made.

The hosts are network namespaces with an sshd each (`ssh_hosts`). Skipped where we are not root.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.inventory.read import read_inventory
from tare.runtimes.ssh.connectivity import prove
from tare.runtimes.ssh.hosts import Hosts
from tests.integration import ssh_hosts

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def booted() -> Iterator[ssh_hosts.SshHosts]:
    with ssh_hosts.needed_by("test_hosts_proof.py", "db1", "load1") as made:
        yield made


def proven(inventory: Path) -> dict[str, object]:
    hosts = Hosts(read_inventory(inventory), "proof")
    try:
        hosts.prepare(lambda _: None)
        return prove(hosts, 1, 9042, ["ssh-native", "native"])
    finally:
        hosts.close()


def nothing_runs(booted: ssh_hosts.SshHosts) -> bool:
    """No prover in the host's network namespace: pods and tasks elsewhere have their own."""
    own = [*booted.hosts["db1"].inside, "stat", "-Lc", "%i", "/proc/self/ns/net"]
    network = subprocess.run(own, capture_output=True, text=True, check=True).stdout.strip()
    return not [
        process
        for process in Path("/proc").glob("[0-9]*")
        if _network(process) == network and "tare-pod" in _command(process)
    ]


def _network(process: Path) -> str:
    with contextlib.suppress(OSError):
        return str((process / "ns/net").stat().st_ino)
    return ""


def _command(process: Path) -> str:
    with contextlib.suppress(OSError):
        return (process / "cmdline").read_text(errors="replace")
    return ""


def test_a_host_that_can_be_reached_passes_and_is_left_as_it_was(
    booted: ssh_hosts.SshHosts,
) -> None:
    told = proven(booted.inventory(nodes=["db1"], clients=["load1"]))
    assert isinstance(told["asked"], list)
    assert [(one["from"], one["name"]) for one in told["asked"]] == [
        ("load1", "db1"),
        ("here", "db1"),
    ]
    assert nothing_runs(booted)


def test_a_host_whose_own_name_is_its_loopback_is_refused(
    booted: ssh_hosts.SshHosts, tmp_path: Path
) -> None:
    names = tmp_path / "hosts"
    names.write_text("127.0.0.1 localhost\n127.0.1.1 db1.example.com\n", encoding="ascii")
    words = [*booted.hosts["db1"].inside, "mount", "--bind", str(names), "/etc/hosts"]
    subprocess.run(words, check=True, timeout=30)
    inventory = booted.inventory(nodes=["db1"], clients=["load1"])
    lines = inventory.read_text(encoding="utf-8").splitlines()
    named = [f"{one} tare_service=db1.example.com" if one[:4] == "db1 " else one for one in lines]
    inventory.write_text("\n".join(named) + "\n", encoding="utf-8")
    with pytest.raises(RuntimeUnavailableError, match="no database can listen") as caught:
        proven(inventory)
    assert "db1.example.com is 127.0.1.1 on this machine" in caught.value.why
    assert nothing_runs(booted)


def test_a_server_that_forwards_no_port_is_refused(booted: ssh_hosts.SshHosts) -> None:
    inventory = booted.inventory(nodes=["db1"], clients=["load1"])
    authorised = Path(f"{booted.key}.pub")
    text = authorised.read_text(encoding="ascii")
    authorised.write_text(f"no-port-forwarding {text}", encoding="ascii")
    try:
        with pytest.raises(RuntimeUnavailableError, match="forwards no port") as caught:
            proven(inventory)
    finally:
        authorised.write_text(text, encoding="ascii")
    assert "AllowTcpForwarding" in caught.value.remedy
    assert nothing_runs(booted)
