"""A database's declaration: what its server needs, what it refuses, how to get its files.

It imports nothing when it is imported, so that studies and the command line can ask at once.
Modules that bring files and make clusters are imported by the functions that need them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tare.databases.cluster import Cluster, Installed, Watch
    from tare.databases.destination import Destination
    from tare.errors import TareError
    from tare.runtimes.obstacle import Obstacle
    from tare.runtimes.unit import Runtime
    from tare.study.database import Database
    from tare.study.design import Warm
    from tare.study.origins import FieldPath
    from tare.study.problems import ConditionProblems, Problem
    from tare.study.schema import Platform, Setup


@dataclass(frozen=True)
class ServerNeeds:
    """How long a server takes, and what it keeps on disk beside rows.

    Attributes:
        start_s: until one server answers.
        form_s: until a cluster accepts the load: schema agreement.
        inserts_per_s: inserts per second and replica on 2 cores.
        disk_bytes: logs and the database's own tables of one server.
        election_s: until several servers have a leader.
    """

    start_s: float
    form_s: float
    inserts_per_s: float
    disk_bytes: int
    election_s: float = 0.0


@dataclass(frozen=True)
class NewCluster:
    """The parts of a new cluster.

    Attributes:
        name: unique within the run.
        setup: the database and its load.
        platform: where it runs; it may be less confined than the setup's.
        runtime: how its units run.
        installation: the result of `bring` for that runtime.
        host_memory: memory of the machine, bytes.
    """

    name: str
    setup: Setup
    platform: Platform
    runtime: Runtime
    installation: Installed
    host_memory: int


@dataclass(frozen=True)
class Stopped:
    """What a node leaves after it was told to end and has written all its data.

    Attributes:
        status: its exit status.
        parts: patterns of the parts of its data directory that are kept.
        leave_out: patterns of names that are not kept, wherever they are below these parts.
    """

    status: int
    parts: tuple[str, ...]
    leave_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spread:
    """Of service demand between identical deployments of one snapshot, sd, in words.

    Attributes:
        half_writes: if half of the operations write.
        reads: with reads only.
    """

    half_writes: str
    reads: str


class DatabaseDeclaration(ABC):
    """One database. A subclass declares what differs from most databases.

    The registry finds an instance, or a tuple of several, named DECLARED in its module.
    """

    name: str
    """as a study names it, in `database.kind`"""
    title: str
    """its name in a sentence, as its owners write it"""
    protocol: str
    """the clients' protocol, which `tare-load` and the stub know"""
    protocol_in_words: str
    """the same, with how `tare weigh` spreads operations over connections"""
    needs: ServerNeeds
    stopped: Stopped
    """what a node leaves, if a snapshot is taken of it"""

    # what it has

    locked = False
    """Tare has lock files of its releases, by which a version is fetched"""
    compiles = False
    """Its server compiles its code while it runs: it is warmed under a gentle load first."""
    archives_classes = False
    """its nodes may start from an archive of their classes"""
    deployments_differ: Spread | None = None
    """as measured; None: not measured"""

    # what a plan asks

    def problems(self, setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
        """Contradictions in this condition's cluster, and fields of another database."""
        yield from ()

    def obstacles(self, setup: Setup) -> Iterator[Obstacle]:
        """What prevents this setup here, on any platform."""
        yield from ()

    def unfit(self, setup: Setup) -> Sequence[Obstacle]:
        """Obstacles found in the setup's files before anything starts; empty: none."""
        return ()

    def unsnapshotted(self, database: Database) -> str:
        """Why no deployment can start from a copy of such data; empty: one can."""
        return ""

    @abstractmethod
    def kept_in_memory(self, setup: Setup, machine: int | None) -> int:
        """Bytes of memory in which one server keeps data.

        Args:
            machine: memory of the machine, which a server without a limit sees; None: not known.
        """

    @abstractmethod
    def beside_data(self, setup: Setup) -> int:
        """Bytes of memory that one server needs beyond that."""

    @abstractmethod
    def memory_in_words(self, setup: Setup, size: str) -> tuple[FieldPath, str, str]:
        """The field that sets a server's memory for data.

        Also what the server does with this much (`size`), and what lowers it.
        """

    def acknowledged(self, database: Database) -> str:
        """How many copies answer an operation, in words; empty: the server's default."""
        return ""

    def replica_chosen(self, database: Database) -> bool:
        """Whether the server chooses the replicas for a read by latencies that it has seen.

        Then identical clusters differ.
        """
        return False

    def still_compiling(self, setup: Setup, warm: Warm) -> str:
        """A plan's hint that its servers still compile while they are measured; empty: unknown.

        It says why, and which edit ends that.
        """
        return ""

    def stands_still(self, database: Database, seconds: float) -> str:
        """A plan's hint on what nodes lose if they are frozen this long; empty: nothing.

        They are frozen between two turns of slices.
        """
        return ""

    # what a run asks

    @abstractmethod
    def bring(self, database: Database, to: Destination) -> Installed:
        """The server's files, where units of the destination's runtime find them.

        Raises:
            ArtifactError: files that are not available or not the locked ones.
            RuntimeUnavailableError: a host cannot have them.
            StudyError: the files that the study names are not its server.
        """

    @abstractmethod
    def cluster(self, wanted: NewCluster) -> Cluster:
        """A cluster; nothing is started."""

    def not_its_files(self, cluster: str) -> TareError:
        """The error that a cluster was given the files of another database's `bring`."""
        from tare.errors import TareError

        return TareError(
            f"a cluster without the files of {self.title}",
            where=cluster,
            remedy="tell of it: this is a fault of Tare's",
        )

    @abstractmethod
    def watch(self, clusters: Sequence[Cluster], wall: Callable[[], float]) -> Watch:
        """A watch of all nodes of these clusters, which belong to this database.

        Args:
            wall: gives Unix time, seconds.
        """
