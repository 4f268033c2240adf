"""What a database says of itself: what its server needs, what it refuses, how its files are had.

It imports nothing when it is imported, so that studies and the command line can ask at once; what
brings files and makes clusters is imported by the functions that need it.
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
        start_s: one server until it answers.
        form_s: a cluster until it takes the load: schema agreement.
        inserts_per_s: inserts per second and replica on 2 cores.
        disk_bytes: logs and the database's own tables of one server.
        election_s: several servers until one leads them.
    """

    start_s: float
    form_s: float
    inserts_per_s: float
    disk_bytes: int
    election_s: float = 0.0


@dataclass(frozen=True)
class NewCluster:
    """What a cluster is made of.

    Attributes:
        name: unique within the run.
        setup: the database and its load.
        platform: where it runs, which may be less confined than the setup's.
        runtime: how its units run.
        installation: what `bring` gave for that runtime.
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
    """What a node leaves that was told to end and has written all that it held.

    Attributes:
        status: its exit status.
        parts: patterns of what is kept of its data directory.
        leave_out: patterns of names that are not, wherever they are below these.
    """

    status: int
    parts: tuple[str, ...]
    leave_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spread:
    """Of service demand between identical deployments of one snapshot, sd, in words.

    Attributes:
        half_writes: where half of the operations write.
        reads: under reads alone.
    """

    half_writes: str
    reads: str


class DatabaseDeclaration(ABC):
    """One database. A subclass says what is true of it; what it leaves out is of most.

    An instance named DECLARED in its module is what the registry finds, or a tuple of several.
    """

    name: str
    """as a study names it, in `database.kind`"""
    title: str
    """in a sentence, as its owners write it"""
    protocol: str
    """what a client speaks to it: a protocol of `tare-load`, and of the stub"""
    protocol_in_words: str
    """the same, with how `tare weigh` spreads operations over connections"""
    needs: ServerNeeds
    stopped: Stopped
    """what a node leaves that a snapshot is taken of"""

    # what it has

    locked = False
    """Tare has lock files of its releases, from which a version is fetched"""
    compiles = False
    """Its server compiles itself while it runs: it is warmed under a gentle load first."""
    archives_classes = False
    """its nodes may start from an archive of their classes"""
    deployments_differ: Spread | None = None
    """as was measured; None: it was not"""

    # what a plan asks

    def problems(self, setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
        """What contradicts itself in this condition's cluster, and what is another database's."""
        yield from ()

    def obstacles(self, setup: Setup) -> Iterator[Obstacle]:
        """What hinders this setup here, whatever it runs on."""
        yield from ()

    def unfit(self, setup: Setup) -> Sequence[Obstacle]:
        """What a look at the files that the setup names tells before anything starts; empty:
        nothing against them."""
        return ()

    def unsnapshotted(self, database: Database) -> str:
        """Why no deployment can start from a copy of such data; empty: it can."""
        return ""

    @abstractmethod
    def kept_in_memory(self, setup: Setup, machine: int | None) -> int:
        """Bytes that one server keeps data in.

        Args:
            machine: memory of the machine, which a server without a limit sees; None: not known.
        """

    @abstractmethod
    def beside_data(self, setup: Setup) -> int:
        """Bytes of memory that one server needs beyond that."""

    @abstractmethod
    def memory_in_words(self, setup: Setup, size: str) -> tuple[FieldPath, str, str]:
        """The field that decides how much memory a server keeps data in, what it does with so much
        (`size`), and what lowers it."""

    def acknowledged(self, database: Database) -> str:
        """How many copies answer an operation, in words; empty: what the server takes by itself."""
        return ""

    def replica_chosen(self, database: Database) -> bool:
        """Whether the server chooses which replicas answer a read, by the latencies that it has
        seen: identical clusters then differ."""
        return False

    def still_compiling(self, setup: Setup, warm: Warm) -> str:
        """Why its servers are measured while they still compile themselves, and the edit that ends
        that, as a hint of a plan; empty: nothing is known of it."""
        return ""

    def stands_still(self, database: Database, seconds: float) -> str:
        """What its nodes lose who stand still for so long between two turns of slices, as a hint of
        a plan; empty: nothing."""
        return ""

    # what a run asks

    @abstractmethod
    def bring(self, database: Database, to: Destination) -> Installed:
        """The server's files, where units of the destination's runtime find them.

        Raises:
            ArtifactError: files that cannot be had or are not the locked ones.
            RuntimeUnavailableError: a host cannot have them.
            StudyError: the files that the study names are not its server.
        """

    @abstractmethod
    def cluster(self, wanted: NewCluster) -> Cluster:
        """A cluster; nothing is started."""

    def not_its_files(self, cluster: str) -> TareError:
        """The error that a cluster was given what `bring` of another database gave."""
        from tare.errors import TareError

        return TareError(
            f"a cluster without the files of {self.title}",
            where=cluster,
            remedy="tell of it: this is a fault of Tare's",
        )

    @abstractmethod
    def watch(self, clusters: Sequence[Cluster], wall: Callable[[], float]) -> Watch:
        """What watches all nodes of these clusters, which are of this database.

        Args:
            wall: gives Unix time, seconds.
        """
