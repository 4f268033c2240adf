"""A trial records what its nodes did meanwhile; a failed query does not fail the trial.

The answers have the columns, types and values of a real 5.0.9 node.
"""

from __future__ import annotations

import shutil
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from tare.databases.cassandra import gclog, metrics
from tare.databases.cassandra.metrics import THREADS, ServerWatch, compactions, counters
from tare.errors import ClusterError
from tare.machines.cgroups import Accounting
from tare.monitor.threads import Threads, grown

DATA = Path(__file__).parent / "data"
Pool = namedtuple("Pool", "name completed_tasks blocked_tasks_all_time")
Cache = namedtuple("Cache", "name hit_count request_count")
Peer = namedtuple("Peer", "sent_bytes sent_count")
Done = namedtuple("Done", "id keyspace_name columnfamily_name bytes_in bytes_out compacted_at")
Task = namedtuple("Task", "task_id kind keyspace_name table_name progress")

COMPACTED = Done(
    UUID("6a7ed540-e5be-11f1-adff-5969a1e25cb5"),
    "keyspace1",
    "standard1",
    37405660,
    37568285,
    datetime(2026, 11, 21, 15, 15, 57, 995000),
)
RUNNING = Task(
    UUID("75f47ce0-e5be-11f1-adff-5969a1e25cb5"), "compaction", "keyspace1", "standard1", 2850880
)
START, END = 1795274150.0, 1795274164.0


class Node:
    """A node that answers from tables, or fails with an error."""

    host = "127.0.0.1"

    def __init__(self, **tables: list[Any]) -> None:
        self.tables = tables
        self.fault: Exception | None = None

    def execute(self, text: str, consistency: str = "LOCAL_ONE") -> list[Any]:
        if self.fault is not None:
            raise self.fault
        table = text.partition("FROM ")[2].split()[0].rpartition(".")[2]
        return self.tables.get(table, [])


def busy(pools: int = 0, requests: int = 0) -> Node:
    return Node(
        thread_pools=[
            Pool("Native-Transport-Requests", 1000 + pools, 3),
            Pool("MutationStage", 400, 0),
            Pool("GossipStage", 7, 0),
        ],
        caches=[Cache("keys", 50, 60 + requests), Cache("rows", 0, 0)],
        internode_outbound=[Peer(5000, 10), Peer(7000, 20)],
        compaction_history=[COMPACTED],
    )


def test_counters_are_named_for_what_they_count() -> None:
    assert counters(busy()) == {
        "requests.coordinated": 1000.0,
        "requests.mutation_stage": 400.0,
        "requests.blocked": 3.0,
        "cache.keys.requests": 60.0,
        "cache.keys.misses": 10.0,
        "internode.bytes": 12000.0,
        "internode.messages": 30.0,
    }


def test_a_finished_compaction_began_when_its_id_was_made() -> None:
    """The node's log gives 16,144 ms for this compaction."""
    (event,) = compactions(busy(), "n1", START, END)
    assert event["what"] == "compaction"
    assert event["to"] == pytest.approx(1795274157.995)
    assert event["to"] - event["from"] == pytest.approx(16.144, abs=0.02)
    assert event["detail"] == {
        "node": "n1",
        "table": "keyspace1.standard1",
        "bytes_in": 37405660,
        "bytes_out": 37568285,
    }


def test_a_compaction_that_still_runs_lasts_to_the_end() -> None:
    (event,) = compactions(Node(sstable_tasks=[RUNNING]), "n1", START, END)
    assert (event["from"], event["to"]) == (pytest.approx(1795274161.07), END)
    assert event["detail"]["unfinished"] is True


@pytest.mark.parametrize(("start", "end"), [(START + 100, END + 100), (START - 100, END - 100)])
def test_compactions_of_another_time_are_left_out(start: float, end: float) -> None:
    assert compactions(busy(), "n1", start, end) == []


def test_compactions_of_a_node_whose_clock_is_ahead_are_in_this_machine_s_time() -> None:
    (event,) = compactions(busy(), "n1", START - 100, END - 100, ahead_s=100.0)
    assert event["to"] == pytest.approx(1795274057.995)
    (event,) = compactions(Node(sstable_tasks=[RUNNING]), "n1", START - 100, END - 100, 100.0)
    assert (event["from"], event["to"]) == (pytest.approx(1795274061.07), END - 100)
    assert compactions(busy(), "n1", START, END, ahead_s=100.0) == []


def test_the_threads_of_a_real_node_are_sorted_by_what_they_are_for() -> None:
    """The threads are from a node after 580,000 written rows: 80 threads, 115.9 CPU seconds."""
    found = {}
    for line in (DATA / "threads.txt").read_text().splitlines():
        number, name, nanoseconds = line.split()
        found[int(number)] = name.replace("_", " "), int(nanoseconds) / 1e9
    groups = grown(Threads({}), Threads(found), THREADS)
    assert all(seconds > 0 for seconds in groups.values()), groups
    assert groups["cpu.gc_s"] > 4.2  # GC Thread#0 alone used 4.28 s
    total = sum(seconds for _, seconds in found.values())
    requests = total - sum(groups.values())
    assert total == pytest.approx(115.905, abs=0.01)
    assert 0 < requests < total


class Cluster:
    """A cluster of one node with the given connection."""

    def __init__(self, session: Node) -> None:
        site = SimpleNamespace(name="n1", data="/unused", data_on_host=None)
        self.running = SimpleNamespace(
            unit=SimpleNamespace(site=site), accounting=lambda: Accounting(pids=(1,))
        )
        self.nodes = [self.running]
        self._session = session
        self.closed = 0

    @contextmanager
    def session(self, node: Any = None) -> Iterator[Node]:
        if self._session.fault is not None:
            raise self._session.fault
        yield self._session
        self.closed += 1


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    shutil.copy(DATA / "gc-g1-cassandra.log", tmp_path / gclog.LOG)
    log = tmp_path / gclog.LOG
    kept = log.read_bytes()
    (tmp_path / "rest").write_bytes(kept)
    log.write_bytes(kept[:200])  # only the beginning; the rest follows later
    monkeypatch.setattr(gclog, "log_of", lambda pid, directory: log)
    readings = iter(
        [
            Threads({1: ("java", 1.0), 2: ("GC Thread#0", 2.0)}),
            Threads({1: ("java", 9.0), 2: ("GC Thread#0", 2.5)}),
        ]
    )
    monkeypatch.setattr(metrics, "read_threads", lambda pid, machine: next(readings))
    return Cluster(busy())


def watched(cluster: Cluster, tmp_path: Path, begun: float = START) -> ServerWatch:
    """A watch that begins at `begun`; the node then logs and counts more until the trial's end."""
    watch = ServerWatch([cluster], wall=lambda: begun)
    watch.begin()
    (tmp_path / gclog.LOG).write_bytes((tmp_path / "rest").read_bytes())
    cluster._session.tables |= busy(pools=700, requests=100).tables
    return watch


def test_what_grew_over_the_measured_part_is_kept_with_its_events(
    cluster: Cluster, tmp_path: Path
) -> None:
    watch = watched(cluster, tmp_path)
    seen = watch.end(START, END)
    watch.close()
    assert seen.notes == []
    assert seen.counts["requests.coordinated"] == 700.0
    assert seen.counts["cache.keys.misses"] == 100.0
    assert seen.counts["cpu.gc_s"] == 0.5
    assert seen.counts["gc.pauses"] == sum(e["what"] == "gc pause" for e in seen.events) > 3
    assert all(e["to"] > START and e["from"] < END for e in seen.events)
    assert [e["from"] for e in seen.events] == sorted(e["from"] for e in seen.events)
    assert cluster.closed == 1


def test_a_log_that_may_not_be_read_leaves_collections_unknown_and_the_rest_known(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / gclog.LOG).unlink()
    watch = watched(cluster, tmp_path)
    seen = watch.end(START, END)
    assert seen.notes == []
    assert not any(name.startswith("gc.") for name in seen.counts)
    assert seen.counts["cpu.gc_s"] == 0.5


def test_threads_that_cannot_be_seen_are_unknown_not_idle(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "read_threads", lambda pid, machine: Threads({}))
    watch = watched(cluster, tmp_path)
    counts = watch.end(START, END).counts
    assert "requests.coordinated" in counts
    assert not any(name.startswith("cpu.") for name in counts)


def test_counters_that_a_busy_node_told_late_are_scaled_to_the_whole_part(
    cluster: Cluster, tmp_path: Path
) -> None:
    watch = watched(cluster, tmp_path, START + 2.0)  # begins 2 s late; 12 of 14 s are counted
    seen = watch.end(START, END)
    assert seen.counts["requests.coordinated"] == pytest.approx(700 * 14 / 12)


@pytest.mark.parametrize(
    "fault",
    [
        ClusterError("CQL failed", where="n1"),
        OSError("gone"),
        TypeError("no such column"),
        RuntimeError("cannot schedule new futures after shutdown"),
    ],
)
def test_a_node_that_does_not_answer_is_noted_and_nothing_is_raised(
    cluster: Cluster, tmp_path: Path, fault: Exception
) -> None:
    watch = watched(cluster, tmp_path)
    cluster._session.fault = fault
    seen = watch.end(START, END)
    watch.close()
    assert seen.counts == {}
    assert "could not be read (n1)" in seen.notes[0]


def test_counters_that_miss_half_of_the_part_are_noted_and_not_scaled(
    cluster: Cluster, tmp_path: Path
) -> None:
    watch = watched(cluster, tmp_path, START + 7.0)
    seen = watch.end(START, END)
    assert seen.counts == {}
    assert "7.0 s after the beginning" in seen.notes[0]


def test_a_part_without_length_is_noted_too(cluster: Cluster, tmp_path: Path) -> None:
    watch = watched(cluster, tmp_path)
    seen = watch.end(START, START)
    assert seen.counts == {}
    assert len(seen.notes) == 1


def test_the_threads_of_all_nodes_are_read_before_any_node_is_asked(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    monkeypatch.setattr(
        metrics, "read_threads", lambda pid, machine: order.append("threads") or Threads({})
    )
    monkeypatch.setattr(metrics, "counters", lambda session: order.append("query") or {})
    cluster.nodes.append(cluster.running)
    ServerWatch([cluster], wall=lambda: START).begin()
    assert order == ["threads", "threads", "query", "query"]


def test_without_any_connection_there_are_notes_and_no_counts(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster._session.fault = ClusterError("no CQL connection", where="n1")
    watch = ServerWatch([cluster], wall=lambda: START)
    watch.begin()
    seen = watch.end(START, END)
    watch.close()
    assert (seen.counts, seen.events, len(seen.notes)) == ({}, [], 1)
