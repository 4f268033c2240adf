"""A lost connection to a real host: what ran there is removed, and later work runs.

The hosts are network namespaces with an sshd each (`ssh_hosts`). Skipped where we are not root.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.artifacts import image
from tare.artifacts.binaries import find
from tare.errors import TareError
from tare.machines.inventory.read import read_inventory
from tare.machines.ssh import HostGoneError
from tare.runtimes.ssh.docker import HostDockerRunning, SshDockerRuntime
from tare.runtimes.ssh.host_machine import HostMachine
from tare.runtimes.ssh.hosts import Hosts
from tare.runtimes.unit import Bits, Unit
from tare.study.platform import Limits
from tests.integration import ssh_hosts

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def booted() -> Iterator[ssh_hosts.SshHosts]:
    reason = ssh_hosts.why_not() or (None if shutil.which("dockerd") else "no dockerd: make setup")
    if reason:
        pytest.skip(f"{reason}; then pytest tests/integration/test_hosts_lost.py")
    with ssh_hosts.ssh_hosts("db1") as made:
        made.hosts["db1"].start_engine()
        yield made


@pytest.fixture
def hosts(booted: ssh_hosts.SshHosts) -> Iterator[Hosts]:
    made = Hosts(read_inventory(booted.inventory(nodes=["db1"])), "lost")
    made.prepare(lambda _: None)
    yield made
    made.close()


def containers(booted: ssh_hosts.SshHosts) -> list[str]:
    words = [*booted.hosts["db1"].inside, "docker", "ps", "-a", "--format", "{{.Names}}"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def volumes(booted: ssh_hosts.SshHosts) -> list[str]:
    words = [*booted.hosts["db1"].inside, "docker", "volume", "ls", "-q"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def launched(runtime: SshDockerRuntime, name: str, bits: Bits) -> HostDockerRunning:
    site = runtime.site(name, role="database", network="host", storage="volume", group=name)
    command = [image.POD, "answer", "--name", name, str(site.binds(9042))]
    unit = Unit(
        site, "database", command, {}, Limits(), bits, storage="volume", ports=(9042,), grace_s=0.0
    )
    return runtime.launch(unit)


def lose(machine: HostMachine) -> None:
    """Kill the ssh process that keeps the connection, and forget the recent loss."""
    shell = machine.connection._shell
    assert shell is not None
    shell.kill()
    shell.wait()
    with pytest.raises(HostGoneError):
        machine.connection.run("true")
    machine.connection._lost = None


def test_a_lost_connection_leaves_no_container_and_spoils_no_later_one(
    booted: ssh_hosts.SshHosts, hosts: Hosts, tmp_path: Path
) -> None:
    machine = hosts.nodes[0]
    bits = Bits("", image.build_program_image(machine.engine(), "pod", find("tare-pod")))
    runtime = SshDockerRuntime(tmp_path / "work", hosts)
    first = launched(runtime, "k1-n1", bits)
    assert containers(booted) == ["tare-lost-k1-n1"]
    lose(machine)
    first.stop()
    assert containers(booted) == []
    assert volumes(booted) == []
    second = launched(runtime, "k2-n1", bits)
    lose(machine)
    machine.connection._lost = machine.connection._clock(), "it is gone for a while"
    with pytest.raises(TareError, match="not reached"):
        second.stop()
    assert containers(booted) == ["tare-lost-k2-n1"]
    machine.connection._lost = None
    third = launched(runtime, "k3-n1", bits)
    assert containers(booted) == ["tare-lost-k3-n1"]
    assert third.exited() is None
    third.stop()
    assert containers(booted) == []
    assert volumes(booted) == []
