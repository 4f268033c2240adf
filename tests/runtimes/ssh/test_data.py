"""A node's data directory on a host is filled from the snapshot; other content is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.artifacts.digest import combined, tree_digests
from tare.artifacts.snapshot import NodeSnapshot
from tare.errors import ArtifactError
from tare.runtimes.ssh.data import fill
from tare.runtimes.ssh.host_machine import HostMachine
from tests.machines.fake_ssh import FakeHost

ROWS = "data/ycsb/nb-1-big-Data.db"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[HostMachine]:
    fake = FakeHost(tmp_path)
    yield HostMachine(fake.host, "run", fake.connection)
    fake.connection.close()


@pytest.fixture
def snapshot(tmp_path: Path) -> NodeSnapshot:
    root = tmp_path / "cache" / "1"
    (root / ROWS).parent.mkdir(parents=True)
    (root / ROWS).write_bytes(b"rows")
    (root / "data/system/a table without rows").mkdir(parents=True)
    (root / "hints").mkdir()
    return NodeSnapshot(root, combined(tree_digests(root)))


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    (tmp_path / "node" / "tmp").mkdir(parents=True)
    return tmp_path / "node"


def everything(below: Path) -> list[str]:
    return sorted(path.relative_to(below).as_posix() for path in below.rglob("*"))


def test_every_directory_is_filled_from_files_that_are_brought_once(
    machine: HostMachine, snapshot: NodeSnapshot, empty: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    fill(machine, snapshot, str(empty), said.append)
    assert everything(empty) == sorted([*everything(snapshot.root), "tmp"])
    (empty / ROWS).write_bytes(b"what this deployment wrote")
    (tmp_path / "next").mkdir()
    fill(machine, snapshot, str(tmp_path / "next"), said.append)
    assert (tmp_path / "next" / ROWS).read_bytes() == b"rows"
    assert len(said) == 1


def test_what_was_brought_and_then_changed_there_is_brought_again(
    machine: HostMachine, snapshot: NodeSnapshot, empty: Path
) -> None:
    said: list[str] = []
    held = Path(machine.files) / snapshot.digest[:16]
    (held / ROWS).parent.mkdir(parents=True)
    (held / ROWS).write_bytes(b"rowz")
    fill(machine, snapshot, str(empty), said.append)
    assert (empty / ROWS).read_bytes() == b"rows"
    assert len(said) == 1


@pytest.mark.parametrize("left", ["commitlog/CommitLog-7-1.log", ROWS])
def test_a_leftover_of_another_life_is_refused_by_its_name(
    machine: HostMachine, snapshot: NodeSnapshot, empty: Path, left: str
) -> None:
    (empty / left).parent.mkdir(parents=True)
    (empty / left).write_bytes(b"rows")
    with pytest.raises(ArtifactError, match="not empty") as refused:
        fill(machine, snapshot, str(empty), print)
    assert refused.value.where == f"{machine.host}: {empty}/{left}"


@pytest.mark.parametrize(
    ("damage", "of"),
    [
        ("printf rowz >{rows}", ROWS),
        ("rm {rows}", ROWS),
        ("touch {at}/data/more", "data/more"),
        ("ln -s / {at}/data/a\\ link", "data/a link"),
    ],
)
def test_a_file_that_is_damaged_as_it_is_copied_is_refused_by_its_name(
    machine: HostMachine,
    snapshot: NodeSnapshot,
    empty: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: str,
    of: str,
) -> None:
    program = tmp_path / "bin" / "cp"
    program.parent.mkdir()
    words = damage.format(rows=empty / ROWS, at=empty)
    program.write_text(f'#!/bin/sh\n/bin/cp "$@" && {words}\n', encoding="ascii")
    program.chmod(0o755)
    machine.connection.close()
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setitem(machine.connection._environment, "PATH", f"{program.parent}:/usr/bin:/bin")
    with pytest.raises(ArtifactError, match="differs from its snapshot") as refused:
        fill(machine, snapshot, str(empty), print)
    assert refused.value.where == f"{machine.host}: {empty}/{of}"


def test_a_directory_that_is_not_there_is_told_with_the_host(
    machine: HostMachine, snapshot: NodeSnapshot, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match="cp failed") as refused:
        fill(machine, snapshot, str(tmp_path / "none"), print)
    assert "h1" in str(refused.value)
