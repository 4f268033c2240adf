"""The interface of a database's cluster to the lab, for any database."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Protocol

from tare.artifacts.class_archive import ClassArchive
from tare.artifacts.snapshot import Snapshot
from tare.databases.observed import Observed
from tare.runtimes.registry import BARE
from tare.runtimes.unit import Bits, Running


class Installed(Protocol):
    """Where a runtime's units find a database's files."""

    @property
    def bits(self) -> Bits: ...
    @property
    def unsnapshotted(self) -> str:
        """Why no node starts from a copy of such a server's data; empty: it can."""
        ...


class Cluster(Protocol):
    """The units of one cluster."""

    PORT: ClassVar[int]
    """where clients find a node"""

    @property
    def name(self) -> str:
        """Unique within the run; also the units' name prefix."""
        ...

    snapshot: Snapshot | None
    """what the nodes' data directories hold when they start; None: nothing"""

    @property
    def nodes(self) -> list[Running]: ...
    def targets(self, client: str = BARE, endpoint: str = "") -> list[str]:
        """host:port of every node, for clients of this runtime; empty: the usual endpoint."""
        ...

    def netns(self, endpoint: str) -> str:
        """Path of the network namespace in which clients of this endpoint run; empty: any."""
        ...

    @property
    def url(self) -> str | None:
        """The connection string, for a database that uses one."""
        ...

    def reached(self, client: str, endpoint: str) -> dict[str, str]:
        """Member of that string to host:port where clients of this endpoint reach it.

        Empty: they reach members where the string says.
        """
        ...

    @property
    def memory(self) -> tuple[str, str]:
        """The server's memory for data, for the parity check: its name and size."""
        ...

    def load_from(self, archive: ClassArchive | None) -> None:
        """Have the nodes' JVMs map an archive of their classes; do nothing without a JVM."""
        ...

    def begin(self) -> None:
        """Start what can start without waiting; `deploy` does the rest."""
        ...

    def deploy(self) -> None:
        """Start the remaining nodes and wait until the cluster answers."""
        ...

    def truncate(self) -> None:
        """Empty the load's tables."""
        ...

    def drop(self) -> None:
        """Drop the load's tables and make them anew."""
        ...

    def confine(self, cpuset: str) -> None: ...
    def check_alive(self) -> None:
        """Raise ClusterError if a node has died since it was launched."""
        ...

    def describe(self) -> dict[str, Any]:
        """The cluster's own description."""
        ...

    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def collect_logs(self, into: Path) -> None: ...
    def destroy(self) -> None:
        """Remove everything of the cluster; safe to call at any time, and twice."""
        ...


class Watch(Protocol):
    """Watches all nodes of a trial's clusters; none of its methods raises."""

    def begin(self) -> None:
        """The measured part begins."""
        ...

    def end(self, start: float, end: float) -> Observed:
        """The measured part is over; `start` and `end` are its Unix times."""
        ...

    def close(self) -> None: ...
