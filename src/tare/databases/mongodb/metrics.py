"""The members' own counts over a trial: operations, cache, journal, elections, oplog.

They are read twice, at the beginning and at the end of the measured part, through one connection
per member that was opened before (`serverStatus`, `replSetGetStatus`). Nothing is read in between.
No trial fails because something cannot be read: a member that does not answer becomes a note.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tare.databases.mongodb import replica_set
from tare.databases.mongodb.counters import counters
from tare.databases.observed import Observation, Observed
from tare.errors import ClusterError

if TYPE_CHECKING:
    from tare.databases.mongodb.cluster import MongoCluster
    from tare.databases.mongodb.session import Session
    from tare.runtimes.unit import Running

LAGGING_S = 1.0
"""a secondary farther behind than this at the end makes an event; MongoDB up to 4.4 has whole
seconds"""


class _MemberWatch:
    """One member's counters, at the beginning and at the end."""

    def __init__(self, name: str, session: Session) -> None:
        self.name = name
        self.session = session
        self.counters: dict[str, float] = {}

    def begin(self) -> None:
        self.counters = counters(self.session.command({"serverStatus": 1}))

    def end(self) -> dict[str, float]:
        now = counters(self.session.command({"serverStatus": 1}))
        return {
            name: value - self.counters[name]
            for name, value in now.items()
            if name in self.counters
        }


class ServerWatch:
    """Watches all members of a trial's sets; `begin`, `end` and `close` never raise."""

    def __init__(
        self, clusters: Sequence[MongoCluster], wall: Callable[[], float] = time.time
    ) -> None:
        """Open a connection to every member. `wall` gives the Unix time."""
        self._wall = wall
        self._observation = Observation()
        self._clusters = clusters
        self._members: list[_MemberWatch] = []
        self._primaries: dict[str, str] = {}
        for cluster in clusters:
            # The stub keeps no counters.
            for node in cluster.nodes if cluster.installation.kind != "tare-stub" else ():
                self._observation.attempt(node.unit.site.name, partial(self._open, cluster, node))

    def _open(self, cluster: MongoCluster, node: Running) -> None:
        session = self._observation.stack.enter_context(cluster.session(node))
        self._members.append(_MemberWatch(node.unit.site.name, session))

    def begin(self) -> None:
        """Read every counter for the first time, and who is primary."""
        for member in self._members:
            self._observation.attempt(member.name, member.begin)
        for cluster in self._clusters:
            self._observation.attempt(cluster.name, partial(self._note_primary, cluster))

    def _note_primary(self, cluster: MongoCluster) -> None:
        first = replica_set.primary(cluster.members())
        if first is not None:
            self._primaries[cluster.name] = first.host

    def end(self, start: float, end: float) -> Observed:
        """Read every counter again.

        Args:
            start, end: Unix times of the measured part; elections outside of it are left out.
        """

        def read(member: _MemberWatch) -> None:
            self._observation.add(member.end(), [])

        def look(cluster: MongoCluster) -> None:
            self._observation.add({}, list(self._events(cluster, start, end)))

        for member in self._members:
            self._observation.attempt(member.name, partial(read, member))
        for cluster in self._clusters:
            self._observation.attempt(cluster.name, partial(look, cluster))
        return self._observation.of(len(self._members))

    def _events(self, cluster: MongoCluster, start: float, end: float) -> Iterator[dict[str, Any]]:
        found = cluster.members()
        first = replica_set.primary(found)
        if first is not None and first.elected is not None and start < first.elected <= end:
            detail = {
                "set": cluster.name,
                "node": first.host,
                "before": self._primaries.get(cluster.name, ""),
            }
            yield _event(first.elected, first.elected, "election", detail)
        behind = replica_set.lag(found)
        if behind > LAGGING_S:
            late = {"set": cluster.name, "seconds": behind}
            yield _event(max(start, end - behind), end, "oplog lag", late)
        window = _oplog(cluster)
        if window is not None and start < window < end:
            # The oplog was replaced within the trial: a member that fell behind could not catch up.
            yield _event(window, end, "oplog turned over", {"set": cluster.name})

    def close(self) -> None:
        self._observation.close()


def _oplog(cluster: MongoCluster) -> float | None:
    """Unix time of the oldest operation in the primary's oplog; None for a stand-in."""
    if cluster.installation.stands_in:
        return None
    oldest = {"find": "oplog.rs", "sort": {"$natural": 1}, "limit": 1, "projection": {"ts": 1}}
    try:
        with cluster.session(cluster.primary()) as session:
            answer = session.command(oldest, "local")
    except ClusterError:  # without the right to read it, nothing is known of it
        return None
    batch = answer.get("cursor", {}).get("firstBatch", [])
    moment = batch[0].get("ts") if batch else None
    return float(moment.time) if moment is not None else None


def _event(begin: float, end: float, what: str, detail: dict[str, Any]) -> dict[str, Any]:
    return {"from": begin, "to": end, "what": what, "detail": detail}
