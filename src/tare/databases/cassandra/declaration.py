"""The declaration of Cassandra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.databases.declaration import DatabaseDeclaration, ServerNeeds, Spread, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tare.databases.cluster import Cluster, Installed, Watch
    from tare.databases.declaration import NewCluster
    from tare.databases.destination import Destination
    from tare.runtimes.obstacle import Obstacle
    from tare.study.database import Database
    from tare.study.design import Warm
    from tare.study.origins import FieldPath
    from tare.study.problems import ConditionProblems, Problem
    from tare.study.schema import Setup

OFF_HEAP_BYTES = 450 << 20
"""A node's memory beyond its heap: 0.95 GB at 512 MiB, 1.2 GB at 768 MiB, 1.5 GB at 1 GiB."""
_LEVELS = "Tiered"
_QUICK_ONLY = f"-XX:{_LEVELS}StopAtLevel=1"
_THRESHOLD = "CompileThresholdScaling"
_UNDER_FULL_LOAD_S, _SHORT_S = 60, 300
"""A warm-up that the second compiler outlasts, and trials of which its rest is a large part."""
_BOTH_COMPILERS = (
    "a server with both of Java's compilers is measured while the second still works: after 57 s "
    "of the full load it used a third of the CPU time (docs/decisions/0005-gentle-warm-up.md). "
    "Give it time first, minutes for each server, design.warm: {gentle: 2m, at_most: 60s}; or, in "
    "a study of minutes, use "
    f'the quick one alone, with which the server is slower: database.jvm: ["{_QUICK_ONLY}"]'
)
_COMPILED_LATE = (
    "nodes that share the operations of one load compile late: three of them were not warm after "
    "12 s, and identical clusters differed by 5.7%; told to compile after a tenth of the calls "
    "they were warm in 3 s, and 0.8% apart (docs/resolution.md#compiled-sooner)"
)


class CassandraDeclaration(DatabaseDeclaration):
    """Apache Cassandra, from the files of Tare's lock, or the user's."""

    name = "cassandra"
    title = "Apache Cassandra"
    protocol = "cql"
    protocol_in_words = "CQL, all operations at once on one connection"
    # Measured with Cassandra 5.0.9 on a machine of 2 cores.
    needs = ServerNeeds(
        start_s=8.0,  # 5 to 6 s alone, 8 s with the client's and the lab's own start
        form_s=2.0,
        inserts_per_s=12_000.0,  # between a cold server (11,600) and a warm one
        disk_bytes=200 << 20,  # commit log, hints, system tables and logs
    )
    stopped = Stopped(
        143,  # of a JVM that ended at SIGTERM; Cassandra flushes everything before
        ("data", "hints", "saved_caches"),  # after a drain the commit log holds nothing
        # A node's knowledge of its peers, whose addresses are new in the next deployment. A cluster
        # of three that kept the old ones took 48 s to start instead of 16, and gossiped about them.
        ("peers-*", "peers_v2-*", "peer_events-*", "peer_events_v2-*"),
    )
    locked = True
    compiles = True
    archives_classes = True
    deployments_differ = Spread("some 2%", "0 to 1.6%")  # docs/resolution.md

    def problems(self, setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
        from tare.databases.cassandra.rules import cassandra_problems

        yield from cassandra_problems(setup, problems)

    def unfit(self, setup: Setup) -> Sequence[Obstacle]:
        from tare.databases.cassandra.unfit import unfit

        return unfit(setup.database)

    def kept_in_memory(self, setup: Setup, machine: int | None) -> int:
        """The heap; the server takes all of it at its start."""
        return setup.database.heap

    def beside_data(self, setup: Setup) -> int:
        return OFF_HEAP_BYTES

    def memory_in_words(self, setup: Setup, size: str) -> tuple[FieldPath, str, str]:
        return ("database", "heap"), f"heap {size}", "lower database.heap or database.nodes"

    def acknowledged(self, database: Database) -> str:
        levels = database.consistency
        if levels.read == levels.write:
            return str(levels.read)
        return f"reads {levels.read}, writes {levels.write}"

    def replica_chosen(self, database: Database) -> bool:
        """The dynamic snitch does, if a read needs fewer replicas than there are."""
        from tare.databases.cassandra.rules import replicas_needed

        copies = database.replication_factor
        needed = replicas_needed(database.consistency.read, copies)
        return needed < copies and bool(database.settings.get("dynamic_snitch", True))

    def still_compiling(self, setup: Setup, warm: Warm) -> str:
        """HotSpot's quick compiler waits for 200 calls of a method, or 2,000 rounds of a loop.

        Its second compiler has some 30 s of work on one thread (docs/decisions/0005).
        """
        database = setup.database
        if not any(_LEVELS in one for one in database.jvm):
            short = not warm.gentle and warm.at_most <= _UNDER_FULL_LOAD_S
            return _BOTH_COMPILERS if short and setup.load.measure <= _SHORT_S else ""
        told = any(_THRESHOLD in one for one in database.jvm)
        if database.nodes == 1 or _QUICK_ONLY not in database.jvm or told:
            return ""
        wanted = ", ".join(f'"{one}"' for one in (*database.jvm, f"-XX:{_THRESHOLD}=0.1"))
        return f"{_COMPILED_LATE}: database.jvm: [{wanted}]"

    def bring(self, database: Database, to: Destination) -> Installed:
        from tare.databases.cassandra.bits import bring

        return bring(database, to)

    def cluster(self, wanted: NewCluster) -> Cluster:
        from tare.databases.cassandra.cluster import CassandraCluster, Installation

        installation, setup = wanted.installation, wanted.setup
        if not isinstance(installation, Installation):
            raise self.not_its_files(wanted.name)
        return CassandraCluster(
            wanted.name, setup.database, wanted.platform, setup.load, wanted.runtime, installation
        )

    def watch(self, clusters: Sequence[Cluster], wall: Callable[[], float]) -> Watch:
        from tare.databases.cassandra.cluster import CassandraCluster
        from tare.databases.cassandra.metrics import ServerWatch

        return ServerWatch([one for one in clusters if isinstance(one, CassandraCluster)], wall)


DECLARED = CassandraDeclaration()
