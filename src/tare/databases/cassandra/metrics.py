"""The nodes' own counts over a trial: tasks, caches, traffic, pauses, compactions.

They are read twice, at the beginning and at the end of the measured part, from three sources:

- The virtual tables of `system_views`, through one CQL connection per node that was opened before.
- The kernel: the CPU time of the JVM's threads.
- The garbage collection log.

Nothing is read in between. No trial fails because something cannot be read: a node that does not
answer becomes a note, and threads or a log that only root may read are absent from the counts.
Decision 0007 has the reasons.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.databases.cassandra import configuration, gclog
from tare.databases.observed import Observation, Observed
from tare.machines.machine import HERE
from tare.monitor.threads import Threads, grown, read_threads, recognised

if TYPE_CHECKING:
    from tare.databases.cassandra.cluster import CassandraCluster
    from tare.databases.cassandra.session import Session
    from tare.runtimes.unit import Running

THREADS = {
    "cpu.gc_s": ("GC Thread#", "G1 ", "VM Thread", "ZWorker", "ZDriver", "Shenandoah", "CMS "),
    "cpu.jit_s": ("C1 CompilerThread", "C2 CompilerThread", "Sweeper thread"),
    "cpu.compaction_s": ("CompactionExecutor",),
    "cpu.flush_s": (
        "MemtableFlushWriter",
        "PerDiskMemtableFlushWriter",
        "MemtablePostFlush",
        "MemtableReclaimMemory",
        "SlabPoolCleaner",
        "PERIODIC-COMMIT-LOG",
        "COMMIT-LOG",
    ),
    "cpu.network_s": ("epollEventLoop", "Messaging-EventLoop"),
}
"""Purpose of a node's threads, by the beginnings of their names. HotSpot's: thread names in
src/hotspot/share (the VM thread does the pauses' own work). Cassandra's: its executors, as
`system_views.thread_pools` lists them, and Netty's event loops."""

_POOLS = {
    "Native-Transport-Requests": "requests.coordinated",
    "ReadStage": "requests.read_stage",
    "MutationStage": "requests.mutation_stage",
    "MemtableFlushWriter": "flush.tasks",
}
MOST_LATE = 0.5
"""Largest share of the measured part that the first reading may miss; more is not compensated."""
_TIMEUUID_EPOCH = 0x01B21DD213814000
"""100 ns steps between 1582-10-15 and 1970-01-01, RFC 4122, section 4.1.4"""


class _NodeWatch:
    """One node's counters, at the beginning and at the end."""

    def __init__(self, node: Running, session: Session) -> None:
        self.node = node
        self.session = session
        self.name = node.unit.site.name
        accounting = node.accounting()
        self.pid, self.machine = accounting.pid, accounting.machine
        self.counters: dict[str, float] = {}
        self.counted = 0.0
        self.threads = Threads({})
        self.offset: int | None = None

    def begin_at_once(self) -> None:
        """Read the kernel's counts; it takes milliseconds, however busy the node is."""
        self.threads = read_threads(self.pid, machine=self.machine)
        if self.machine is not HERE:
            return  # its log is not read while it is measured
        with suppress(OSError):  # only root may look into a container: counts are unknown then
            self.offset = self._log().stat().st_size

    def begin_by_query(self, wall: Callable[[], float]) -> None:
        """Read the node's counts, as soon as it answers."""
        self.counters = counters(self.session)
        self.counted = wall()

    def end(self, start: float, end: float) -> tuple[dict[str, float], list[dict[str, Any]]]:
        threads = read_threads(self.pid, machine=self.machine)
        seen = recognised(self.threads, THREADS) and recognised(threads, THREADS)
        found = grown(self.threads, threads, THREADS) if seen else {}
        now = counters(self.session)
        # a node under load answers late, so its counters miss the very beginning
        late = max(self.counted - start, 0.0)
        if late >= MOST_LATE * (end - start):
            raise ValueError(f"it told its counters {late:.1f} s after the beginning only")
        scale = (end - start) / (end - start - late)
        # a counter that is absent at the beginning was 0 (a cache that nobody had used)
        found |= {name: (v - self.counters.get(name, 0.0)) * scale for name, v in now.items()}
        events = compactions(self.session, self.name, start, end, self.machine.ahead_s)
        logged = None if self.offset is None else gclog.read_from(self._log(), self.offset)
        if logged is not None:
            pauses = [pause for pause in logged if start < pause.ended <= end]
            found |= gclog.counts(pauses)
            events += [pause_event(pause, self.name) for pause in pauses]
        return found, events

    def _log(self) -> Path:
        return gclog.log_of(self.pid, configuration.temporary(self.node.unit.site))


class ServerWatch:
    """Watches all nodes of a trial's clusters; `begin`, `end` and `close` never raise."""

    def __init__(
        self, clusters: Sequence[CassandraCluster], wall: Callable[[], float] = time.time
    ) -> None:
        """Open a connection to every node. `wall` gives the Unix time."""
        self._wall = wall
        self._observation = Observation()
        self._nodes: list[_NodeWatch] = []
        for cluster in clusters:
            for node in cluster.nodes:
                self._observation.attempt(node.unit.site.name, partial(self._open, cluster, node))

    def _open(self, cluster: CassandraCluster, node: Running) -> None:
        session = self._observation.stack.enter_context(cluster.session(node))
        self._nodes.append(_NodeWatch(node, session))

    def begin(self) -> None:
        """Read every counter for the first time; threads first, because queries may take long."""
        for node in self._nodes:
            self._observation.attempt(node.name, node.begin_at_once)
        for node in self._nodes:
            self._observation.attempt(node.name, partial(node.begin_by_query, self._wall))

    def end(self, start: float, end: float) -> Observed:
        """Read every counter again.

        Args:
            start, end: Unix times of the measured part; pauses and compactions outside are left
                out.
        """

        def read(node: _NodeWatch) -> None:
            self._observation.add(*node.end(start, end))

        for node in self._nodes:
            self._observation.attempt(node.name, partial(read, node))
        return self._observation.of(len(self._nodes))

    def close(self) -> None:
        self._observation.close()


def counters(session: Session) -> dict[str, float]:
    """A node's counters since it started, by name.

    Raises:
        ClusterError: the node does not answer.
    """
    found: dict[str, float] = {}
    blocked = 0.0
    for row in session.execute(
        "SELECT name, completed_tasks, blocked_tasks_all_time FROM system_views.thread_pools"
    ):
        blocked += row.blocked_tasks_all_time
        if row.name in _POOLS:
            found[_POOLS[row.name]] = float(row.completed_tasks)
    found["requests.blocked"] = blocked
    for row in session.execute("SELECT name, hit_count, request_count FROM system_views.caches"):
        if row.request_count:
            found[f"cache.{row.name}.requests"] = float(row.request_count)
            found[f"cache.{row.name}.misses"] = float(row.request_count - row.hit_count)
    peers = session.execute("SELECT sent_bytes, sent_count FROM system_views.internode_outbound")
    found["internode.bytes"] = float(sum(row.sent_bytes for row in peers))
    found["internode.messages"] = float(sum(row.sent_count for row in peers))
    return found


def compactions(
    session: Session, node: str, start: float, end: float, ahead_s: float = 0.0
) -> list[dict[str, Any]]:
    """The node's compactions that ran at any time between `start` and `end` (Unix s).

    Finished ones are in `system.compaction_history`; its id is a time-based UUID of the
    compaction's begin. The others are in `system_views.sstable_tasks`.

    Args:
        session: to the node.
        node: its name.
        start, end: in this machine's clock, as the events are.
        ahead_s: by how much the node's clock is ahead of it.

    Raises:
        ClusterError: the node does not answer.
    """
    events = []
    for row in session.execute(
        "SELECT id, keyspace_name, columnfamily_name, bytes_in, bytes_out, compacted_at "
        "FROM system.compaction_history"
    ):
        began, ended = unix_of(row.id.time) - ahead_s, _unix(row.compacted_at) - ahead_s
        if began < end and ended > start:
            detail = {
                "node": node,
                "table": f"{row.keyspace_name}.{row.columnfamily_name}",
                "bytes_in": row.bytes_in,
                "bytes_out": row.bytes_out,
            }
            events.append({"from": began, "to": ended, "what": "compaction", "detail": detail})
    for row in session.execute(
        "SELECT task_id, kind, keyspace_name, table_name, progress FROM system_views.sstable_tasks"
    ):
        began = unix_of(row.task_id.time) - ahead_s
        if row.kind.lower() == "compaction" and began < end:
            detail = {
                "node": node,
                "table": f"{row.keyspace_name}.{row.table_name}",
                "bytes_in": row.progress,
                "unfinished": True,
            }
            events.append({"from": began, "to": end, "what": "compaction", "detail": detail})
    return events


def pause_event(pause: gclog.Pause, node: str) -> dict[str, Any]:
    """A pause of the JVM as an event."""
    detail = {"node": node, "kind": pause.kind}
    begun = pause.ended - pause.seconds
    return {"from": begun, "to": pause.ended, "what": "gc pause", "detail": detail}


def unix_of(ticks: int) -> float:
    """The Unix time in a version 1 UUID's timestamp (100 ns steps since 1582-10-15)."""
    return (ticks - _TIMEUUID_EPOCH) / 1e7


def _unix(moment: datetime) -> float:
    """The driver's timestamps are in UTC and do not say so."""
    return moment.replace(tzinfo=UTC).timestamp()
