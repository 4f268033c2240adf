"""A Cassandra cluster forms from units that may answer late; its nodes are scripted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.databases.cassandra import cluster as module
from tare.databases.cassandra.cluster import CassandraCluster, Installation
from tare.errors import ClusterError
from tare.runtimes.unit import Bits
from tare.study.conditions import expand
from tare.study.schema import Study
from tests.databases.mongodb.scripted import NOW, Runtime


class Ring:
    """The nodes' answers, and a clock that only `wait` advances."""

    def __init__(self) -> None:
        self.now = NOW
        self.silent_until = 0.0
        self.alone_until = 0.0
        self.speaks = True
        self.executed: list[tuple[str, str]] = []
        """(address, statement)"""

    def clock(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds

    @contextmanager
    def door(self, address: tuple[str, int], timeout: float) -> Iterator[Any]:
        if self.now < self.silent_until:
            raise ConnectionRefusedError("connection refused")
        answer = bytes([0x84, 0, 0, 0, 6, 0, 0, 0, 0]) if self.speaks else b"HTTP/1.1 "
        yield SimpleNamespace(
            settimeout=lambda seconds: None,
            sendall=lambda request: None,
            recv=lambda size: answer,
        )

    @contextmanager
    def session(self, host: str, port: int) -> Iterator[Any]:
        def execute(text: str, level: str = "ONE") -> list[Any]:
            self.executed.append((host, text))
            if level == "ALL" and self.now < self.alone_until:
                raise ClusterError("no", why="Cannot achieve consistency level ALL")
            return []

        yield SimpleNamespace(execute=execute)


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Ring:
    made = Ring()
    monkeypatch.setattr("socket.create_connection", made.door)
    monkeypatch.setattr(module, "connect", made.session)
    return made


def cluster(root: Path, ring: Ring, nodes: int = 3) -> tuple[CassandraCluster, Runtime]:
    study = {"study": "x", "database": {"nodes": nodes, "replication_factor": nodes}}
    setup = expand(Study.model_validate(study))[0].setup
    runtime = Runtime(root)
    files = Installation("/java", "/lib", "jamm.jar", (), Bits("digest"))
    made = CassandraCluster(
        "d1-k1",
        setup.database,
        setup.platform,
        setup.load,
        runtime,  # type: ignore[arg-type]
        files,
        clock=ring.clock,
        wait=ring.wait,
    )
    return made, runtime


def test_nodes_are_waited_for_until_each_writes_to_all_of_them(tmp_path: Path, ring: Ring) -> None:
    ring.silent_until, ring.alone_until = NOW + 5, NOW + 9
    made, runtime = cluster(tmp_path, ring)
    made.deploy()
    assert 9.0 <= ring.now - NOW < 9.5
    assert [node.unit.site.name for node in runtime.launched] == [
        "d1-k1-n1",
        "d1-k1-n2",
        "d1-k1-n3",
    ]
    assert {node.unit.log for node in runtime.launched} == {"log/system.log"}
    ready = {host for host, text in ring.executed if "INSERT INTO tare_all.ready" in text}
    assert ready == {"127.0.0.1", "127.0.0.2", "127.0.0.3"}
    assert "CREATE TABLE" in ring.executed[-1][1]


def test_every_node_knows_the_first_as_its_seed(tmp_path: Path, ring: Ring) -> None:
    made, _ = cluster(tmp_path, ring)
    made.deploy()
    for number in (1, 2, 3):
        written = (tmp_path / f"d1-k1-n{number}" / "cassandra.yaml").read_text(encoding="utf-8")
        assert "seeds: 127.0.0.1" in written


@pytest.mark.parametrize(
    ("speaks", "why"), [(True, "connection refused"), (False, "does not speak CQL")]
)
def test_a_node_that_does_not_answer_is_named_with_its_log(
    tmp_path: Path, ring: Ring, speaks: bool, why: str
) -> None:
    ring.speaks, ring.silent_until = speaks, NOW + 1e6 if speaks else 0.0
    made, _ = cluster(tmp_path, ring)
    with pytest.raises(ClusterError, match="no answer on port 9042 after 240 s") as raised:
        made.deploy()
    assert raised.value.where == "d1-k1-n1"
    assert why in raised.value.why
    assert "system.log" in raised.value.remedy


def test_nodes_that_never_see_each_other_are_told(tmp_path: Path, ring: Ring) -> None:
    ring.alone_until = NOW + 1e6
    made, _ = cluster(tmp_path, ring)
    with pytest.raises(ClusterError, match="the cluster is not ready after 60 s") as raised:
        made.deploy()
    assert "consistency level ALL" in raised.value.why
