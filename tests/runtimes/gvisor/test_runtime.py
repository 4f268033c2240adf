"""gVisor differs from plain Docker in its engine entry, ways, facts and changes of CPUs."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.addresses import AddressPool
from tare.machines.cgroups import Accounting
from tare.records.manifest import HIDDEN
from tare.runtimes import docker, docker_ways
from tare.runtimes.gvisor import runtime
from tare.runtimes.gvisor.declaration import DECLARED
from tare.runtimes.gvisor.runtime import GVisorRunning, GVisorRuntime, end_sandboxes
from tare.runtimes.registry import declared
from tare.runtimes.unit import Way

KVM = next(one for one in DECLARED if one.platform == "kvm")
SANDBOX = ("runsc-sandbox", "--root=/run", "--platform=kvm", "boot", "c0ffee")


def made(tmp_path: Path) -> GVisorRuntime:
    return GVisorRuntime(KVM, "run", tmp_path, AddressPool())


def running(monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], role: str) -> GVisorRunning:
    unit: Any = SimpleNamespace(site=SimpleNamespace(name="n1"), role=role)
    one = GVisorRunning(unit, SimpleNamespace(id="c0ffee"), Any)
    monkeypatch.setattr(one, "_inspect", lambda: state)
    one._accounting = Accounting({"cpuset": str(state["group"])}, (7,))
    monkeypatch.setattr(runtime, "command_of", lambda pid: SANDBOX)
    return one


@pytest.fixture
def state(tmp_path: Path) -> dict[str, Any]:
    """The engine's description of a container that has its data in a volume."""
    limits = [{"Name": "nofile", "Soft": 100_000}, {"Name": "memlock", "Soft": -1}]
    return {
        "HostConfig": {"Ulimits": limits},
        "Mounts": [{"Source": "/proc/data", "Destination": docker.DATA}],
        "GraphDriver": {"Data": {"MergedDir": "/sys"}},
        "group": tmp_path,
    }


def test_its_containers_are_started_by_the_engine_s_entry_of_its_platform(tmp_path: Path) -> None:
    assert made(tmp_path).name == "gvisor-kvm"
    assert made(tmp_path)._bounds()["runtime"] == "runsc-kvm"
    assert {one.entry for one in DECLARED} == {
        "runsc",
        "runsc-systrap",
        "runsc-kvm",
        "runsc-ptrace",
    }


def test_no_way_begins_in_the_sandbox_and_the_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = {"loopback": Way("127.0.0.1", "own"), "bridge": Way("198.19.0.100", "bridge"),
            "between-nodes": Way("198.19.0.100", "two", beside=True),
            "between-published": Way("198.18.0.1", "port", beside=True)}  # fmt: skip
    monkeypatch.setattr(docker_ways, "all_ways", lambda address, pool: ways)
    monkeypatch.setattr(GVisorRuntime, "_network", lambda self, group: "net")
    monkeypatch.setattr(GVisorRuntime, "_address", lambda *_: "198.19.0.100")
    site = made(tmp_path).site(
        "n1", role="database", network="bridge", storage="volume", group="g", several=True
    )
    assert site.way("bridge").host == "198.19.0.100"
    assert "inside the sandbox" in site.ways["loopback"].fault
    assert "inside the sandbox" in site.ways["between-nodes"].fault
    assert "inside the sandbox" in site.ways["between-published"].fault
    with pytest.raises(RuntimeUnavailableError, match="loopback is not to be had here"):
        site.way("loopback")


def test_facts_are_those_of_the_inside_and_what_is_hidden_is_called_so(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, Any]
) -> None:
    facts = running(monkeypatch, state, "database").facts()
    assert facts == {
        "sandbox": "gVisor on kvm",
        "seccomp": "the sandbox's own filter",
        "open files": "100000",
        "locked memory": "unlimited",
        "class archive": HIDDEN,
        "largest memory in huge pages": HIDDEN,
        "file system": "proc",
    }
    in_layer = running(monkeypatch, {**state, "Mounts": []}, "database").facts()
    assert in_layer["file system"] == "sysfs"
    assert "file system" not in running(monkeypatch, state, "client").facts()


def test_cpus_are_changed_by_the_control_group(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], tmp_path: Path
) -> None:
    one = running(monkeypatch, state, "database")
    one.confine("1")
    assert (tmp_path / "cpuset.cpus").read_text() == "1"
    one._accounting = Accounting({"cpuset": str(tmp_path / "gone")}, (7,))
    with pytest.raises(RuntimeUnavailableError, match="moved to other CPUs"):
        one.confine("1")


@pytest.mark.parametrize(("first", "refused"), [(SANDBOX[0], False), ("/opt/java", True)])
def test_a_container_that_came_without_a_sandbox_is_not_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, first: str, refused: bool
) -> None:
    stopped: list[bool] = []
    own: Any = SimpleNamespace(
        accounting=lambda: Accounting({}, (7,)), stop=lambda: stopped.append(True)
    )
    monkeypatch.setattr(docker.DockerRuntime, "launch", lambda self, unit: own)
    monkeypatch.setattr(runtime, "command_of", lambda pid: (first,))
    unit: Any = SimpleNamespace(site=SimpleNamespace(name="n1"))
    if refused:
        with pytest.raises(RuntimeUnavailableError, match="not started in a sandbox") as told:
            made(tmp_path).launch(unit)
        assert told.value.why == "its first process is /opt/java"
    else:
        assert made(tmp_path).launch(unit) is own
    assert stopped == [True] * refused


def test_what_docker_forgets_alive_is_ended_and_no_other_sandbox() -> None:
    started = {
        one: subprocess.Popen(
            ["runsc-sandbox", "-c", "read x", one], executable="/bin/sh", stdin=subprocess.PIPE
        )
        for one in ("c0ffee01", "c0ffee02")
    }
    try:
        end_sandboxes(["c0ffee01"])
        assert started["c0ffee01"].wait(5) == -signal.SIGKILL
        assert started["c0ffee02"].poll() is None
        end_sandboxes([])
        assert started["c0ffee02"].poll() is None
    finally:
        started["c0ffee02"].kill()
        started["c0ffee02"].wait()


def test_it_is_nearer_to_itself_on_another_platform_than_to_docker() -> None:
    distance = dict(declared("gvisor-kvm").near)
    assert distance["gvisor"] < distance["docker"]
