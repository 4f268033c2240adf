"""Orchestrated units on this machine can be paused and read; on others, this is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.cgroups import Accounting
from tare.runtimes import kept_log, orchestrated
from tare.runtimes.unit import Bits, Site, Unit
from tare.study.platform import Limits

POD = orchestrated.Orchestrated("pod", "nobody pauses pods", "nobody chooses")


def unit(root: Path, log: str) -> Unit:
    site = Site(
        name="d1-n1",
        conf=str(root),
        conf_on_host=root,
        data="/var/lib/x",
        data_on_host=None,
        listen="",
        peers="",
        endpoint_host="",
        path="host",
    )
    return Unit(site, "database", ["x"], {}, Limits(), Bits("none"), log=log)


def test_what_only_this_machine_can_do_is_refused_for_others() -> None:
    with pytest.raises(RuntimeUnavailableError, match="a pod on another machine") as paused:
        orchestrated.pause_unit("n1", Accounting(), True, POD)
    with pytest.raises(RuntimeUnavailableError, match="a pod on another machine") as confined:
        orchestrated.confine("n1", Accounting(), "0", POD)
    assert "design.idle" in paused.value.remedy
    assert "limits.cpuset" in confined.value.remedy
    assert paused.value.why == "nobody pauses pods"


def test_groups_that_are_not_ours_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr("tare.machines.cgroups.freeze", refuse)
    monkeypatch.setattr("tare.machines.cgroups.confine", refuse)
    with pytest.raises(RuntimeUnavailableError, match="a pod's control group cannot be frozen"):
        orchestrated.pause_unit("n1", Accounting(pids=(7,)), True, POD)
    with pytest.raises(RuntimeUnavailableError, match="a pod's CPUs cannot be set"):
        orchestrated.confine("n1", Accounting(pids=(7,)), "0", POD)


@pytest.mark.parametrize(
    ("log", "copy"),
    [("log/system.log", "d1-n1-system.log"), ("mongod.log", "d1-n1-mongod.log")],
)
def test_a_server_s_own_log_is_kept_as_its_process_sees_it(
    tmp_path: Path, log: str, copy: str
) -> None:
    source = tmp_path / "proc" / "7" / "root" / "var/lib/x" / log
    source.parent.mkdir(parents=True)
    source.write_bytes(b"started")
    orchestrated.keep_log(unit(tmp_path, log), 7, tmp_path, tmp_path / "proc")
    assert (tmp_path / copy).read_bytes() == b"started"


def test_a_log_that_cannot_be_seen_is_left_out(tmp_path: Path) -> None:
    for pid, log in ((0, "mongod.log"), (7, "mongod.log"), (7, "")):
        orchestrated.keep_log(unit(tmp_path, log), pid, tmp_path, tmp_path / "proc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("linked", ["var/lib/x/log/system.log", "var/lib/x/log", "var/lib/x"])
def test_a_link_in_a_container_leads_to_no_file_of_this_machine(
    tmp_path: Path, linked: str
) -> None:
    log = "var/lib/x/log/system.log"
    root, elsewhere, into = tmp_path / "proc/7/root", tmp_path / "elsewhere", tmp_path / "logs"
    (elsewhere / log).parent.mkdir(parents=True)
    (elsewhere / log).write_bytes(b"secret")
    (root / linked).parent.mkdir(parents=True)
    (root / linked).symlink_to(elsewhere / linked)
    assert (root / log).read_bytes() == b"secret"
    into.mkdir()
    orchestrated.keep_log(unit(tmp_path, "log/system.log"), 7, into, tmp_path / "proc")
    assert list(into.iterdir()) == []


@pytest.mark.timeout(20)
def test_a_pipe_in_the_place_of_a_log_is_not_waited_for(tmp_path: Path) -> None:
    directory = tmp_path / "proc/7/root/var/lib/x"
    directory.mkdir(parents=True)
    os.mkfifo(directory / "mongod.log")
    orchestrated.keep_log(unit(tmp_path, "mongod.log"), 7, tmp_path, tmp_path / "proc")
    assert [one.name for one in tmp_path.iterdir()] == ["proc"]


def test_of_a_log_without_end_its_last_part_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_log, "LONGEST", 4)
    source = tmp_path / "proc/7/root/var/lib/x/mongod.log"
    source.parent.mkdir(parents=True)
    source.write_bytes(b"started, died")
    orchestrated.keep_log(unit(tmp_path, "mongod.log"), 7, tmp_path, tmp_path / "proc")
    said = b"[Tare: the first 9 bytes of this log were not kept]\n"
    assert (tmp_path / "d1-n1-mongod.log").read_bytes() == said + b"died"
