"""The declaration of MongoDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.databases.declaration import DatabaseDeclaration, ServerNeeds, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tare.databases.cluster import Cluster, Installed, Watch
    from tare.databases.declaration import NewCluster
    from tare.databases.destination import Destination
    from tare.runtimes.obstacle import Obstacle
    from tare.study.database import Database
    from tare.study.origins import FieldPath
    from tare.study.problems import ConditionProblems, Problem
    from tare.study.schema import Setup

MONGOD_BYTES = 200 << 20
"""A mongod beside its cache, without its connections: 3.6.8 begins with 69 MB."""
CONNECTION_BYTES = 1 << 20
"""A connection to mongod, at most. Source: MongoDB manual, FAQ: MongoDB Storage."""
_IN_CACHE = 2.0
"""Bytes of cache per byte of data: pages in memory with the updates that wait on them."""
LONGEST_STANDSTILL_S = 5.0
"""Half of what members wait before an election. Source: MongoDB manual, electionTimeoutMillis."""
OF_A_SET = (
    "a replica set's files name its members, which each deployment has anew: no mongod starts from "
    "a copy"
)


class MongoDeclaration(DatabaseDeclaration):
    """MongoDB with the user's own server; FerretDB or the stub may stand in for it."""

    name = "mongodb"
    title = "MongoDB"
    protocol = "mongodb"
    protocol_in_words = "MongoDB's OP_MSG, a connection for each operation at once"
    # Reckoned on the safe side; 3.6.8 answers after 1 s. Source of the files' sizes: MongoDB
    # manual, Journaling, and diagnosticDataCollectionDirectorySizeMB; of the election: the same,
    # Replica Set Elections: the median should not typically exceed 12 s.
    needs = ServerNeeds(
        start_s=3.0,
        form_s=2.0,
        inserts_per_s=6_000.0,
        disk_bytes=500 << 20,  # two journal files of 100 MB, and diagnostic data, at most 200 MB
        election_s=12.0,
    )
    stopped = Stopped(0, ("*.sqlite",))
    """FerretDB's: only it starts from a copy. It has one file for each database: SQLite ends its
    journal when the last connection is closed. Each deployment has its own identity of the server,
    `state.json`."""

    def problems(self, setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
        from tare.databases.mongodb.rules import mongodb_problems

        yield from mongodb_problems(setup, problems)

    def obstacles(self, setup: Setup) -> Iterator[Obstacle]:
        from tare.databases.mongodb.obstacles import obstacles

        yield from obstacles(setup)

    def unfit(self, setup: Setup) -> Sequence[Obstacle]:
        from tare.databases.mongodb.installation import unfit

        return unfit(setup.database, setup.platform.runtime)

    def unsnapshotted(self, database: Database) -> str:
        from tare.databases.mongodb.installation import named_kind

        return "" if named_kind(database) == "ferretdb" else OF_A_SET

    def kept_in_memory(self, setup: Setup, machine: int | None) -> int:
        """The data in WiredTiger's cache; the cache's size is only a ceiling for smaller data."""
        from tare.databases.mongodb.wired_tiger import SMALLEST_CACHE, chosen_cache, given_cache
        from tare.study.row_size import row_bytes

        settings, load = setup.database.settings, setup.load
        data = SMALLEST_CACHE + round(load.records * row_bytes(load) * _IN_CACHE)
        memory = setup.platform.limits.memory or machine
        if memory is None:
            return min(data, chosen_cache(settings) or data)
        return min(data, given_cache(memory, settings))

    def beside_data(self, setup: Setup) -> int:
        connections: int = setup.load.threads
        return MONGOD_BYTES + connections * CONNECTION_BYTES

    def memory_in_words(self, setup: Setup, size: str) -> tuple[FieldPath, str, str]:
        from tare.databases.mongodb.wired_tiger import chosen_cache

        if chosen_cache(setup.database.settings) is not None:
            path: FieldPath = ("database", "settings")
            lower = "lower cacheSizeGB in database.settings or database.nodes"
        else:
            path = ("platform", "limits", "memory")
            lower = "lower platform.limits.memory, load.records or database.nodes"
        return path, f"cache {size}", lower

    def acknowledged(self, database: Database) -> str:
        """The study's settings, in the words of published findings."""
        from tare.enumeration import count

        concern, preference = database.write_concern, database.read_preference
        by = count(concern, "member") if isinstance(concern, int) else concern
        said = [
            f"writes acknowledged by {by}" if by else "",
            {True: "journalled", False: "not journalled", None: ""}[database.journal],
            f"read preference {preference}" if preference else "",
        ]
        return ", ".join(one for one in said if one)

    def stands_still(self, database: Database, seconds: float) -> str:
        if database.nodes == 1 or seconds <= LONGEST_STANDSTILL_S or database.stubbed:
            return ""
        return (
            f"a set stands still for {seconds:.1f} s between two of its turns, after which its "
            "members call elections: after 9 s a set answered a fifth of its operations, and "
            "some with errors; write design.turn: slice, or a shorter design.slice"
        )

    def bring(self, database: Database, to: Destination) -> Installed:
        from tare.databases.mongodb.bits import bring

        return bring(database, to)

    def cluster(self, wanted: NewCluster) -> Cluster:
        from tare.databases.mongodb.cluster import MongoCluster
        from tare.databases.mongodb.installation import Installation

        installation, setup = wanted.installation, wanted.setup
        if not isinstance(installation, Installation):
            raise self.not_its_files(wanted.name)
        return MongoCluster(
            wanted.name, setup.database, wanted.platform, setup.load, wanted.runtime, installation,
            wanted.host_memory, client=setup.client.runtime,
        )  # fmt: skip

    def watch(self, clusters: Sequence[Cluster], wall: Callable[[], float]) -> Watch:
        from tare.databases.mongodb.cluster import MongoCluster
        from tare.databases.mongodb.metrics import ServerWatch

        return ServerWatch([one for one in clusters if isinstance(one, MongoCluster)], wall)


DECLARED = MongoDeclaration()
