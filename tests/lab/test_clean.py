"""What is left is looked for everywhere; where nobody could look is said. Searches are scripted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tare.lab import clean
from tare.machines.ssh import HostGoneError
from tare.runtimes.ssh.leftovers import HostLeftovers
from tare.runtimes.swarm.leftovers import SwarmLeftovers

NOTHING: dict[str, Any] = {
    "namespaces": ([], []),
    "swarm": SwarmLeftovers(),
    "native": {},
    "docker_engine": {},
    "addresses": [],
    "cgroups": [],
    "ssh": HostLeftovers(),
    "scratch": [],
}


def found(monkeypatch: pytest.MonkeyPatch, runs: Path, **other: Any) -> clean.Leftovers:
    for place, told in (NOTHING | other).items():
        monkeypatch.setattr(f"tare.lab.clean.{place}.leftovers", lambda told=told: told)
    monkeypatch.setattr("tare.lab.clean.neighbours.kept_out", lambda: False)
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
