"""A pod's data directory is filled from the snapshot; any other content is refused.

The pod's container is the real program as a local process; the API is scripted.
"""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tare.artifacts.binaries import find
from tare.artifacts.digest import combined, tree_digests
from tare.artifacts.snapshot import NodeSnapshot
from tare.errors import ArtifactError, RuntimeUnavailableError
from tare.runtimes.kubernetes.data import fill
from tare.runtimes.kubernetes.pod_parts import TAKING
from tests.runtimes.kubernetes.scripted_api import Clock, ScriptedApi

ROWS = "data/ycsb/nb-1-big-Data.db"
POD, NAMESPACE = "c-0", "tare-run"


class Pod:
    """A pod whose container receives files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.api = ScriptedApi()
        self.api.connect = self.connect  # type: ignore[method-assign]
        self.damage: Callable[[], object] = lambda: None
        self.process = subprocess.Popen(
            [find("tare-pod"), "take", directory],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        self.api.logs[POD, TAKING] = self.process.stdout.readline()

    def connect(self, pod: str, port: int, namespace: str) -> Any:
        assert (pod, namespace) == (POD, NAMESPACE)
        made = socket.create_connection(("127.0.0.1", port))
        return Damaging(made, self) if self.damage() is not None else made

    def fill(self, snapshot: NodeSnapshot) -> None:
        clock = Clock()
        fill(self.api, NAMESPACE, POD, TAKING, snapshot, clock, clock.wait)

    @property
    def status(self) -> int:
        return self.process.wait(10)


class Damaging:
    """A connection that damages the pod's files before it sends the end of the transfer."""

    def __init__(self, inner: socket.socket, pod: Pod) -> None:
        self._inner = inner
        self._pod = pod

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def sendall(self, data: bytes) -> None:
        if b'"end"' in data:
            self._pod.damage()
        self._inner.sendall(data)


@pytest.fixture
def pod(tmp_path: Path) -> Iterator[Pod]:
    (tmp_path / "pod").mkdir()
    made = Pod(tmp_path / "pod")
    yield made
    made.process.kill()
    made.process.communicate()


@pytest.fixture
def snapshot(tmp_path: Path) -> NodeSnapshot:
    root = tmp_path / "cache" / "1"
    (root / ROWS).parent.mkdir(parents=True)
    (root / ROWS).write_bytes(bytes(range(256)) * (20 << 12) + b"rows")  # 20 MiB and a bit
    (root / "data/system/a table without rows").mkdir(parents=True)
    return NodeSnapshot(root, combined(tree_digests(root)))


def everything(below: Path) -> list[str]:
    return sorted(path.relative_to(below).as_posix() for path in below.rglob("*"))


def test_the_database_may_start_once_every_file_is_there(pod: Pod, snapshot: NodeSnapshot) -> None:
    pod.fill(snapshot)
    assert pod.status == 0
    assert everything(pod.directory) == everything(snapshot.root)
    assert tree_digests(pod.directory) == tree_digests(snapshot.root)


@pytest.mark.parametrize("left", ["commitlog/CommitLog-7-1.log", ROWS])
def test_a_leftover_of_another_life_is_refused_and_the_database_does_not_start(
    pod: Pod, snapshot: NodeSnapshot, left: str
) -> None:
    (pod.directory / left).parent.mkdir(parents=True)
    (pod.directory / left).write_bytes(b"of another life")
    with pytest.raises(ArtifactError, match="not empty") as refused:
        pod.fill(snapshot)
    assert refused.value.where == f"{NAMESPACE}/{POD}/{left}"
    assert pod.status == 1


@pytest.mark.parametrize("damage", ["changed", "more", "link"])
def test_a_damaged_copy_is_refused_by_its_name_and_the_database_does_not_start(
    pod: Pod, snapshot: NodeSnapshot, damage: str
) -> None:
    changed = pod.directory / ROWS
    more = pod.directory / "data/more"
    done: list[str] = []

    def spoil() -> object:
        if pod.directory.joinpath("data").exists() and not done:
            done.append(damage)
            {
                "changed": lambda: changed.write_bytes(b"rowz"),
                "more": lambda: more.write_bytes(b"of another life"),
                "link": lambda: more.symlink_to("/"),
            }[damage]()
        return True

    pod.damage = spoil
    with pytest.raises(ArtifactError, match="differs from its snapshot") as refused:
        pod.fill(snapshot)
    of = ROWS if damage == "changed" else "data/more"
    assert refused.value.where == f"{NAMESPACE}/{POD}/{of}"
    assert pod.status == 1


def test_a_pod_that_ends_in_the_middle_is_told_with_what_helps(
    pod: Pod, snapshot: NodeSnapshot
) -> None:
    def end() -> object:
        pod.process.kill()
        return True

    pod.damage = end
    with pytest.raises(RuntimeUnavailableError) as refused:
        pod.fill(snapshot)
    assert refused.value.where == f"{NAMESPACE}/{POD}"
    assert "kubectl logs c-0 -c data" in refused.value.remedy


def test_a_pod_that_tells_no_port_is_not_waited_for_forever(
    pod: Pod, snapshot: NodeSnapshot
) -> None:
    pod.api.logs[POD, TAKING] = b"error: unrecognized subcommand\n"
    with pytest.raises(RuntimeUnavailableError, match="where it takes its data") as refused:
        pod.fill(snapshot)
    assert "unrecognized" in refused.value.why


def test_its_port_is_what_it_printed(pod: Pod) -> None:
    assert json.loads(pod.api.logs[POD, TAKING])["port"] > 1023
