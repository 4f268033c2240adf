"""Containers on hosts are removed with all that was made for them, even after a host was lost.

The host is this machine; its engine is a program that logs its commands.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import MagicMock

import pytest
from docker.errors import DockerException

from tare.errors import RuntimeUnavailableError
from tare.machines.inventory.host import Inventory
from tare.machines.ssh import HostError, HostGoneError
from tare.runtimes.confinement import OWN_USER
from tare.runtimes.ssh.docker import HostDockerRunning, SshDockerRuntime
from tare.runtimes.ssh.host_machine import HostMachine
from tare.runtimes.ssh.hosts import Hosts
from tare.runtimes.ssh.names import MARK_LABEL, mark_of
from tare.runtimes.unit import Bits, Unit
from tare.study.platform import Limits
from tests.machines.fake_ssh import FakeHost

_ENGINE = """\
#!/bin/sh
[ "$2" != inspect ] || {{ echo {mark}; exit 0; }}
printf '%s\\n' "$*" >>{log}
[ "$1" != rm ] || {{ echo "Error: No such container: $4" >&2; exit 1; }}
"""


def _unreached(*_: object, **__: object) -> None:
    raise DockerException("no such socket")


class Lost:
    """A container whose engine no longer answers at its socket."""

    id, name = "c0ffee", "tare-run-k1-n1"
    labels: ClassVar = {MARK_LABEL: mark_of("run")}
    remove = staticmethod(_unreached)


class Rig:
    """One host whose engine's command works and whose socket does not."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log = root / "docker.log"
        program = root / "bin" / "docker"
        program.parent.mkdir()
        program.write_text(_ENGINE.format(log=self.log, mark=mark_of("run")), encoding="ascii")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(program.parent), prepend=":")
        monkeypatch.setattr(HostMachine, "engine", lambda _: self.engine)
        gone = SimpleNamespace(inspect_container=_unreached, get=_unreached)
        self.engine: Any = SimpleNamespace(api=gone, volumes=gone)
        self.fake = FakeHost(root)
        self.machine = HostMachine(self.fake.host, "run", self.fake.connection)
        inventory = Inventory(root / "inventory", (self.fake.host,), ())
        self.hosts = Hosts(inventory, "run", {"h1": self.machine})
        self.hosts.clients = list(self.hosts.nodes)
        self.runtime = SshDockerRuntime(root / "work", self.hosts)

    def unit(self, role: Any = "database") -> Unit:
        site = self.runtime.site(
            "k1-n1", role=role, network="host", storage="volume", group="k1"
        )  # fmt: skip
        words: dict[str, Any] = {"storage": "volume", "ports": (9042,), "grace_s": 0.0}
        return Unit(site, role, ["sleep"], {}, Limits(), Bits(""), **words)

    def running(self, role: Any = "database") -> HostDockerRunning:
        home = self.machine.home("k1-n1")
        Path(home).mkdir(parents=True)
        return HostDockerRunning(self.unit(role), Lost(), self.machine, home)

    @property
    def asked(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    made = Rig(tmp_path, monkeypatch)
    yield made
    made.fake.connection.close()


def test_a_container_without_its_engine_s_socket_is_removed_by_the_host_s_own_command(
    rig: Rig,
) -> None:
    running = rig.running()
    running.stop()
    assert rig.asked == ["rm -f -v c0ffee", "volume rm -f tare-k1-n1-data"]
    assert not Path(rig.machine.home("k1-n1")).exists()
    rig.machine.settle()
    assert len(rig.asked) == 2


def test_a_virtual_machine_that_stands_still_goes_on_before_its_engine_is_asked(
    rig: Rig,
) -> None:
    seen: list[str] = []
    state = {"State": {"Status": "paused", "Paused": True}}
    api = SimpleNamespace(inspect_container=lambda _: seen.append("asked") or state)
    rig.engine = SimpleNamespace(api=api)
    running = rig.running()
    rig.machine.connection.wake = lambda: seen.append("goes on")
    assert running.exited() is None
    assert seen == ["goes on", "asked"]


@pytest.mark.parametrize("role", ["database", "client"])
def test_a_container_of_a_host_that_was_gone_is_removed_before_the_next_unit(
    rig: Rig, role: str
) -> None:
    running = rig.running(role)
    rig.machine.script("stop.sh")
    rig.fake.unplug()
    if role == "database":
        with pytest.raises(HostGoneError):
            running.stop()
    else:
        running.stop()
    assert rig.asked == []
    rig.fake.plug()
    rig.machine.connection._lost = None
    rig.machine.settle()
    assert rig.asked[0] == "rm -f -v c0ffee"
    assert not Path(rig.machine.home("k1-n1")).exists()


def test_a_container_that_may_have_been_made_is_removed_when_its_start_fails(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(*_: object) -> object:
        raise DockerException("the answer was lost")

    monkeypatch.setattr(rig.runtime, "_start", half)
    with pytest.raises(RuntimeUnavailableError, match="could not start"):
        rig.runtime.launch(rig.unit())
    assert rig.asked == ["rm -f -v tare-run-k1-n1", "volume rm -f tare-k1-n1-data"]


def test_a_node_whose_ports_have_no_way_here_is_removed_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> int:
        raise HostError("ssh could not forward a port")

    monkeypatch.setattr(rig.runtime, "_start", lambda *_: Lost())
    monkeypatch.setattr(rig.fake.connection, "forward_port", refused)
    with pytest.raises(HostError, match="could not forward"):
        rig.runtime.launch(rig.unit())
    assert rig.asked[0] == "rm -f -v tare-run-k1-n1"


def test_the_way_to_a_node_s_port_is_taken_back_with_its_container(rig: Rig) -> None:
    running = rig.running()
    settled = rig.runtime.settled(running.unit, rig.machine)
    running.unit = replace(running.unit, site=settled)
    running.stop()
    assert rig.fake.told("cancel") == rig.fake.told("forward") != []


def test_it_is_too_where_the_container_is_not_taken_over(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rig.runtime, "_start", lambda *_: Lost())
    monkeypatch.setattr("tare.runtimes.ssh.docker.HostDockerRunning", _unreached)
    with pytest.raises(RuntimeUnavailableError, match="could not start"):
        rig.runtime.launch(rig.unit())
    assert rig.fake.told("cancel") == rig.fake.told("forward") != []


@pytest.mark.parametrize(("role", "user"), [("database", OWN_USER), ("client", 0)])
@pytest.mark.skipif(os.geteuid() != 0, reason="chown needs root; `sudo make test` runs it")
def test_where_the_login_is_root_a_database_is_a_user_of_its_own(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, role: Any, user: int
) -> None:
    made = MagicMock()
    rig.engine = made
    monkeypatch.setattr(SshDockerRuntime, "settled", lambda _, unit, machine: unit.site)
    site = rig.runtime.site("k1-n1", role=role, network="host", storage="directory", group="k1")
    assert site.data_on_host is not None
    site.data_on_host.mkdir(parents=True, exist_ok=True)
    for file in (site.conf_on_host / "node.yaml", site.data_on_host / "rows"):
        file.write_text("text", encoding="ascii")
        file.chmod(0o600)
    rig.runtime.launch(Unit(site, role, ["sleep"], {}, Limits(), Bits(""), "directory"))
    assert made.api.create_container.call_args.kwargs["user"] == f"{user}:{user}"
    rights = made.api.create_host_config.call_args.kwargs
    assert (rights["cap_drop"], rights["read_only"]) == (["ALL"], True)
    there = Path(rig.machine.home("k1-n1"))
    assert (there / "data/rows").stat().st_uid == user
    assert (there / "conf/node.yaml").stat().st_uid == 0
    assert bool((there / "conf/node.yaml").stat().st_mode & 0o004) == (role == "database")
