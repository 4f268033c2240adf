"""Leftovers are searched everywhere; failed searches are reported. Searches are scripted."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import docker
import pytest

from tare.errors import TareError
from tare.lab import clean
from tare.machines.ssh import HostGoneError
from tare.runtimes.declaration import Declaration
from tare.runtimes.left import Left
from tare.runtimes.ssh.leftovers import HostLeftovers
from tare.runtimes.swarm.leftovers import SwarmLeftovers

NOTHING: dict[str, Any] = {
    "kubernetes.namespaces": ([], []),
    "swarm.leftovers": SwarmLeftovers(),
    "native": {},
    "docker_engine": ({}, ""),
}
"""of runtimes"""
NOTHING_HERE: dict[str, Any] = {
    "addresses": [],
    "cgroups": [],
    "ssh": HostLeftovers(),
    "scratch": [],
}


def found(monkeypatch: pytest.MonkeyPatch, runs: Path, **other: Any) -> clean.Leftovers:
    for place, told in (NOTHING | NOTHING_HERE | other).items():
        where = "runtimes" if place in NOTHING else "lab.clean"
        monkeypatch.setattr(f"tare.{where}.{place}.leftovers", lambda told=told: told)
    for place in ("networks", "made"):
        monkeypatch.setattr(f"tare.machines.kvm.{place}.left", list)
    monkeypatch.setattr("tare.lab.clean.neighbours.kept_out", lambda: [])
    return clean.find(runs)


def test_where_nothing_is_left_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = found(monkeypatch, tmp_path)
    assert not made
    assert made.unanswered == []


def test_a_host_that_does_not_answer_may_hold_anything_which_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = HostGoneError("the host is not reached over SSH", where="db1", why="timed out")
    made = found(monkeypatch, tmp_path, ssh=HostLeftovers(unseen=[gone]))
    assert made.unanswered == ["db1: timed out"]


def test_an_engine_that_does_not_answer_may_hold_anything_which_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A killed engine's containers run on."""
    made = found(monkeypatch, tmp_path, docker_engine=({}, "connection refused"))
    assert not made
    assert made.unanswered == ["the Docker engine: connection refused"]


def test_what_was_to_go_and_is_still_here_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stuck = tmp_path / "stuck"
    stuck.mkdir()
    made = found(monkeypatch, tmp_path, scratch=[stuck], cgroups=[tmp_path / "gone"])
    monkeypatch.setattr("tare.lab.clean.scratch.remove", lambda place: None)
    (fault,) = clean.remove(made)
    assert fault.what == "temporary directories of a dead run could not be removed"
    assert fault.where == str(stuck)


def test_a_container_that_the_engine_keeps_is_told_and_one_that_is_gone_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = Held("kept", docker.errors.APIError("device or resource busy"))
    gone = Held("gone", docker.errors.NotFound("no such container"))
    left = Held("left", None)
    things = {"containers": [gone, kept], "networks": [left]}
    (fault,) = clean.remove(found(monkeypatch, tmp_path, docker_engine=(things, "")))
    assert fault.where == "containers: kept"
    assert "busy" in fault.why
    assert (left.removed, kept.removed) == (True, False)


def test_what_one_runtime_keeps_hinders_no_other_from_going(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stuck(namespace: Any) -> None:
        raise HostGoneError("the namespace is still there", where=namespace.name)

    namespace = SimpleNamespace(name="tare-r1", api=SimpleNamespace(server="https://api"))
    left = Held("left", None)
    made = found(
        monkeypatch,
        tmp_path,
        **{"kubernetes.namespaces": ([namespace], ["https://other: timed out"])},
        docker_engine=({"containers": [left]}, ""),
    )
    monkeypatch.setattr("tare.runtimes.kubernetes.namespaces.remove", stuck)
    assert made.words() == ["1 containers: left", "1 namespaces: tare-r1 (https://api)"]
    assert made.unanswered == ["https://other: timed out"]
    (fault,) = clean.remove(made)
    assert (fault.where, left.removed) == ("tare-r1", True)


def test_what_two_runtimes_call_alike_is_told_of_both(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Otherwise the second one's empty result would hide the first one's containers, which stay."""
    nothing = Left({"containers": []}, list)
    stuck = Left({"containers": ["b"]}, list, remain=lambda: {"containers": ["b"]})
    made = found(monkeypatch, tmp_path, docker_engine=({"containers": [Held("a", None)]}, ""))
    made.of_runtimes.append(nothing)
    assert made.words() == ["1 containers: a"]
    made.of_runtimes[-1:] = [stuck, Left({}, list, remain=lambda: {"containers": ["c"]})]
    assert made.words() == ["2 containers: a, b"]
    assert [fault.where for fault in clean.remove(made)] == ["b, c"]


class Held:
    """A container or a network as the engine's client gives it."""

    def __init__(self, name: str, error: Exception | None) -> None:
        self.name = self.id = name
        self.attrs: dict[str, Any] = {}
        self.removed = False
        self._error = error

    def remove(self, **how: bool) -> None:
        if self._error is not None:
            raise self._error
        self.removed = True


def test_directories_without_the_mark_of_a_run_are_not_found_nor_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    thesis = tmp_path / "projectA" / "work" / "thesis.tex"
    half = tmp_path / "b" / "trials" / ".x.partial" / "half"
    for file in (thesis, half):
        file.parent.mkdir(parents=True)
        file.write_text("years of work")
    made = found(monkeypatch, tmp_path)
    assert not made
    clean.remove(made)
    assert thesis.exists()
    assert half.exists()


class Broken(Declaration):
    """Of a package whose own search, removal and second look fail."""

    name = "broken"

    def left(self) -> Left:
        raise KeyError("state")


def test_a_package_whose_search_fails_hides_nothing_of_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = {**clean.registered(), "broken": Broken()}
    monkeypatch.setattr("tare.lab.clean.registered", lambda: here)
    network = SimpleNamespace(name="tare-run", attrs={})
    made = found(monkeypatch, tmp_path, docker_engine=({"networks": [network]}, ""))
    assert made.unanswered == ["broken: KeyError: 'state'"]
    assert made.words() == ["1 networks: tare-run"]


def test_a_package_whose_removal_fails_keeps_nothing_of_the_others() -> None:
    removed: list[str] = []

    def fails() -> list[TareError]:
        raise OSError("no such socket")

    def works() -> list[TareError]:
        removed.append("a")
        return []

    broken = Left({"jails": ["j1", "j2"]}, fails, remain=fails)  # type: ignore[arg-type]  # raises
    told = clean.remove(clean.Leftovers(of_runtimes=[Left({"pods": ["a"]}, works), broken]))
    assert removed == ["a"]
    assert [(one.what, one.where) for one in told] == [
        ("what a run left was not removed", "jails: j1, j2"),
        ("jails of a dead run could not be removed", "j1, j2"),
    ]
    assert told[0].why == "OSError: no such socket"
