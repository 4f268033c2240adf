"""Control groups of both versions are made, limited, read and removed in the same way.

A directory with the kernel's files stands in for the kernel. tests/runtimes and tests/integration
use the real one.
"""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError, UnitGoneError
from tare.machines import cgroups
from tare.machines.cgroups import Accounting, ControlGroup


@dataclass(frozen=True)
class Limits:
    cpus: float | None = None
    cpuset: str | None = None
    memory: int | None = None


@pytest.fixture
def v1(tmp_path: Path) -> Path:
    for controller in cgroups.V1_CONTROLLERS:
        (tmp_path / controller).mkdir()
    (tmp_path / "cpuset" / "cpuset.cpus").write_text("0-3\n")
    (tmp_path / "cpuset" / "cpuset.mems").write_text("0\n")
    return tmp_path


@pytest.fixture
def v2(tmp_path: Path) -> Path:
    (tmp_path / "cgroup.controllers").write_text("cpu cpuset memory pids io\n")
    return tmp_path


def test_the_version_is_seen_by_what_the_hierarchy_holds(v1: Path, tmp_path: Path) -> None:
    assert cgroups.version(v1) == 1
    (tmp_path / "cgroup.controllers").write_text("cpu")
    assert cgroups.version(tmp_path) == 2
    assert cgroups.version(tmp_path / "nothing") == 0


def test_groups_can_be_made_where_the_hierarchy_can_be_written(v1: Path, tmp_path: Path) -> None:
    assert cgroups.can_be_made(v1)
    (tmp_path / "cgroup.controllers").write_text("cpu")
    assert cgroups.can_be_made(tmp_path)
    assert not cgroups.can_be_made(tmp_path / "nothing")


def test_version_1_limits_are_written_per_controller(v1: Path) -> None:
    ControlGroup("run", "n1", v1).create(Limits(cpus=1.5, cpuset="0-1", memory=1 << 30))
    assert (v1 / f"cpu/tare/{cgroups.of_run('run')}/n1/cpu.cfs_quota_us").read_text() == "150000"
    assert (v1 / f"cpuset/tare/{cgroups.of_run('run')}/n1/cpuset.cpus").read_text() == "0-1"
    assert (
        v1 / f"memory/tare/{cgroups.of_run('run')}/n1/memory.limit_in_bytes"
    ).read_text() == str(1 << 30)


def test_a_version_1_cpuset_inherits_what_its_parents_have(v1: Path) -> None:
    ControlGroup("run", "n1", v1).create(Limits())
    assert (v1 / f"cpuset/tare/{cgroups.of_run('run')}/cpuset.mems").read_text() == "0"
    assert (v1 / f"cpuset/tare/{cgroups.of_run('run')}/n1/cpuset.cpus").read_text() == "0-3"


def test_version_2_limits_are_written_to_the_one_group(v2: Path) -> None:
    ControlGroup("run", "n1", v2).create(Limits(cpus=0.5, cpuset="1", memory=4096))
    group = v2 / f"tare/{cgroups.of_run('run')}/n1"
    assert (group / "cpu.max").read_text() == "50000 100000"
    assert (group / "cpuset.cpus").read_text() == "1"
    assert (group / "memory.max").read_text() == "4096"


def test_a_group_that_cannot_be_made_is_an_error_with_a_remedy(v1: Path) -> None:
    (v1 / "memory" / "tare").write_text("in the way")
    with pytest.raises(RuntimeUnavailableError, match="run as root"):
        ControlGroup("run", "n1", v1).create(Limits())


@pytest.mark.parametrize(
    ("limits", "controller"),
    [(Limits(cpus=1.5), "cpu"), (Limits(cpuset="0"), "cpuset"), (Limits(memory=4096), "memory")],
)
def test_a_limit_without_its_controller_is_refused_by_name(
    limits: Limits, controller: str, v1: Path
) -> None:
    (v1 / controller).rename(v1 / "elsewhere")
    with pytest.raises(RuntimeUnavailableError, match=f"controller {controller} are mounted"):
        ControlGroup("run", "n1", v1).create(limits)
    assert not list(v1.rglob("n1")), "nothing is made"


def test_cpu_seconds_are_read_in_each_version(tmp_path: Path) -> None:
    (tmp_path / "cpuacct.usage").write_text("2500000000\n")
    assert Accounting({"cpuacct": str(tmp_path)}).cpu_seconds() == 2.5
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    assert Accounting({"unified": str(tmp_path)}).cpu_seconds() == 1.5


@pytest.mark.parametrize("controller", ["cpuacct", "unified"])
def test_a_group_that_has_gone_is_no_unit_without_work(controller: str, tmp_path: Path) -> None:
    with pytest.raises(UnitGoneError, match="has gone"):
        Accounting({controller: str(tmp_path / "gone")}).cpu_seconds()


def test_processes_that_have_gone_are_no_unit_without_work() -> None:
    assert Accounting(pids=(os.getpid(),)).cpu_seconds() > 0
    ended = subprocess.Popen(["true"])
    ended.wait()
    with pytest.raises(UnitGoneError, match="have gone"):
        Accounting(pids=(ended.pid,)).cpu_seconds()


def test_freezing_waits_until_the_kernel_says_so(v2: Path) -> None:
    group = ControlGroup("run", "n1", v2)
    group.create(Limits())
    events = v2 / f"tare/{cgroups.of_run('run')}/n1/cgroup.events"
    events.write_text("populated 1\nfrozen 0\n")
    waits: list[float] = []

    def kernel_catches_up(seconds: float) -> None:
        waits.append(seconds)
        events.write_text("populated 1\nfrozen 1\n")

    group.freeze(True, pause=kernel_catches_up)
    assert (v2 / f"tare/{cgroups.of_run('run')}/n1/cgroup.freeze").read_text() == "1"
    assert len(waits) == 1


def test_a_group_that_never_freezes_is_an_error(v2: Path) -> None:
    group = ControlGroup("run", "n1", v2)
    group.create(Limits())
    with pytest.raises(RuntimeUnavailableError, match="did not freeze"):
        group.freeze(True, pause=lambda seconds: None)


def freezer(monkeypatch: pytest.MonkeyPatch, frozen_by: int) -> list[str]:
    """A freezer of version 1 that freezes at so many requests; what is written to it."""
    written: list[str] = []
    monkeypatch.setattr(Path, "write_text", lambda _, text: written.append(text))
    state = {True: "FROZEN", False: "FREEZING"}
    monkeypatch.setattr(
        cgroups, "_text", lambda _: state[written.count("FROZEN") >= frozen_by], raising=True
    )
    return written


def test_a_freezer_of_version_1_that_is_stuck_is_thawed_and_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = freezer(monkeypatch, frozen_by=3)
    waits: list[float] = []
    cgroups.freeze({"freezer": "/group"}, True, waits.append)
    assert written == ["FROZEN", *["THAWED", "FROZEN"] * 2]
    assert 0.1 < sum(waits) < 0.2


def test_a_freezer_that_never_freezes_is_asked_a_few_times_in_5_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = freezer(monkeypatch, frozen_by=99)
    waits: list[float] = []
    with pytest.raises(RuntimeUnavailableError, match="did not freeze within 5 s"):
        cgroups.freeze({"freezer": "/group"}, True, waits.append)
    assert 3 < written.count("FROZEN") < 10
    assert 4.5 < sum(waits) < 5.5


def test_a_run_that_has_ended_leaves_no_group(v2: Path) -> None:
    (v2 / f"tare/{cgroups.of_run('run')}/n1").mkdir(parents=True)
    (v2 / f"tare/{cgroups.of_run('run')}/n1").rmdir()
    cgroups.remove_run("run", v2)
    assert cgroups.leftovers(v2) == []


def test_leftovers_are_the_groups_that_bear_our_mark_deepest_first(v2: Path) -> None:
    dead = v2 / "tare" / cgroups.of_run("dead")
    (dead / "n1").mkdir(parents=True)
    (v2 / "somebody/else").mkdir(parents=True)
    (v2 / "tare/somebody/else").mkdir(parents=True)
    assert cgroups.leftovers(v2) == [dead / "n1", dead]


def machine_with(**files: str) -> Any:
    """A machine with these files; a path matches a file by its end."""

    def read(*patterns: str) -> dict[str, str]:
        return {p: text for p in patterns for end, text in files.items() if p.endswith(end)}

    return SimpleNamespace(read=read)


@pytest.mark.parametrize(
    ("state", "by"),
    [("S", ""), ("R", ""), ("D", ""), ("T", "a signal"), ("t", "a debugger")],
)
def test_a_process_that_is_stopped_is_told_from_one_that_waits(state: str, by: str) -> None:
    machine = machine_with(stat=f"7 (java (x) y) {state} 1 7 7 0")
    found = Accounting({}, (7,), machine).standing_still()
    assert (by in found) if by else not found


@pytest.mark.parametrize(
    ("hierarchy", "file", "frozen", "running"),
    [
        ("unified", "cgroup.events", "populated 1\nfrozen 1", "populated 1\nfrozen 0"),
        ("freezer", "freezer.state", "FROZEN", "THAWED"),
    ],
)
def test_a_frozen_group_is_seen_but_where_tare_itself_freezes_it(
    hierarchy: str, file: str, frozen: str, running: str
) -> None:
    def unit(text: str) -> Accounting:
        return Accounting({hierarchy: "/group"}, (7,), machine_with(**{file: text}))

    assert "docker pause" in unit(frozen).standing_still()
    assert not unit(frozen).standing_still(frozen=False)
    assert not unit(running).standing_still()


@pytest.mark.parametrize("paused", [True, False])
def test_where_tare_freezes_a_group_its_engine_says_whether_somebody_paused_it(
    paused: bool,
) -> None:
    unit = Accounting({}, (), machine_with(), paused=lambda: paused)
    assert ("docker pause" in unit.standing_still(frozen=False)) is paused


def test_a_real_process_is_seen_to_be_stopped() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            unit = Accounting({}, (process.pid,))
            assert not unit.standing_still()
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            assert f"process {process.pid} is stopped by a signal" in unit.standing_still()
        finally:
            process.kill()


def test_a_unit_that_has_ended_does_not_stand_still() -> None:
    assert not Accounting({"freezer": "/gone"}, (7,), machine_with()).standing_still()
