"""What one server of a database needs: memory, disk, and time to start and to fill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.study.quantities import GIB, MIB
from tare.study.start import why_no_archive
from tare.study.wired_tiger import SMALLEST_CACHE, chosen_cache, given_cache

if TYPE_CHECKING:
    from tare.study.origins import FieldPath
    from tare.study.schema import Load, Setup

OFF_HEAP_BYTES = 450 * MIB
"""A Cassandra node's memory beyond its heap: 0.95 GB at 512 MiB, 1.2 GB at 768 MiB, 1.5 GB at
1 GiB."""
MONGOD_BYTES = 200 * MIB
"""A mongod beside its cache, without its connections. Reckoned: none has been run."""
CONNECTION_BYTES = MIB
"""A connection to mongod, at most. Source: MongoDB manual, FAQ: MongoDB Storage."""
ROW_OVERHEAD_BYTES, COLUMN_OVERHEAD_BYTES = 80, 22
"""On disk per row and replica beyond the values: 1,300 bytes were seen of YCSB's 10 x 100, 350 of
cassandra-stress's 5 x 34 (whose tables are not compressed). A BSON document of the same takes as
much: 1,150 bytes, its key twice more in the index of _id."""
OWN_ROW_BYTES = 1_000
"""A row of a workload of one's own, whose tables are not known here."""
_IN_CACHE = 2.0
"""Bytes of cache per byte of data: pages in memory with the updates that wait on them."""


@dataclass(frozen=True)
class ServerNeeds:
    """How long a server takes, and what it keeps on disk beside rows.

    Attributes:
        start_s: one server until it answers.
        form_s: a cluster until it takes the load: schema agreement, or an election.
        inserts_per_s: inserts per second and replica on 2 cores.
        disk_bytes: logs and the database's own tables of one server.
    """

    start_s: float
    form_s: float
    inserts_per_s: float
    disk_bytes: int


CASSANDRA = ServerNeeds(
    start_s=8.0,  # 5 to 6 s alone, 8 s with the client's and the lab's own start
    form_s=2.0,
    inserts_per_s=12_000.0,  # between a cold server (11,600) and a warm one
    disk_bytes=200 * MIB,  # commit log, hints, system tables and logs
)
"""Measured with Cassandra 5.0.9 on a machine of 2 cores."""
ARCHIVED_START_S = 4.0
"""A node that maps an archive of its classes: 2.3 s natively, 3.3 s in a container, with margin."""
MONGODB = ServerNeeds(
    start_s=3.0,
    form_s=2.0,
    inserts_per_s=6_000.0,
    disk_bytes=500 * MIB,  # two journal files of 100 MB, and diagnostic data of at most 200 MB
)
"""Reckoned on the safe side, for no mongod has been run.
Source of the files' sizes: MongoDB manual, Journaling, and diagnosticDataCollectionDirectorySizeMB.
"""
ELECTION_S = 12.0
"""A set of several members until it has a primary.
Source: MongoDB manual, Replica Set Elections: the median should not typically exceed 12 s."""


def needs_of(setup: Setup) -> ServerNeeds:
    """What a server of the setup's database needs."""
    return MONGODB if setup.database.kind == "mongodb" else CASSANDRA


def deploy_s(setup: Setup) -> float:
    """Seconds until one cluster takes the load, without what its runtime adds."""
    own, nodes = needs_of(setup), setup.database.nodes
    election = ELECTION_S if setup.database.kind == "mongodb" and nodes > 1 else 0.0
    start_s = own.start_s if why_no_archive(setup) else ARCHIVED_START_S
    return nodes * start_s + own.form_s + election


def node_memory(setup: Setup, machine: int | None) -> int:
    """Bytes that one server may come to hold in memory, at most its limit.

    Args:
        machine: memory of the machine, which a server without a limit sees; None: not known.
    """
    limit = setup.platform.limits.memory
    node = kept_in_memory(setup, machine)
    if setup.database.kind == "mongodb":
        connections = setup.load.threads * CONNECTION_BYTES
        node += MONGOD_BYTES + connections
    else:
        node += OFF_HEAP_BYTES
    return node if limit is None else int(min(node, limit))


def kept_in_memory(setup: Setup, machine: int | None) -> int:
    """Bytes that one server keeps data in: Cassandra's heap, or what comes into WiredTiger's cache.

    The heap is taken whole as the server starts. The cache is a ceiling: of data that are smaller
    it holds the data.
    """
    database, load = setup.database, setup.load
    if database.kind != "mongodb":
        return database.heap
    data = SMALLEST_CACHE + round(load.records * row_bytes(load) * _IN_CACHE)
    memory = setup.platform.limits.memory or machine
    if memory is None:
        return min(data, chosen_cache(database.settings) or data)
    return min(data, given_cache(memory, database.settings))


def memory_in_words(setup: Setup, machine: int) -> tuple[FieldPath, str, str]:
    """The field that decides what a server holds in memory, what it holds, and what lowers it."""
    size = f"{kept_in_memory(setup, machine) / GIB:.1f}GiB a node"
    if setup.database.kind != "mongodb":
        return ("database", "heap"), f"heap {size}", "lower database.heap or database.nodes"
    if chosen_cache(setup.database.settings) is not None:
        path: FieldPath = ("database", "settings")
        return path, f"cache {size}", "lower cacheSizeGB in database.settings or database.nodes"
    path = ("platform", "limits", "memory")
    return path, f"cache {size}", "lower platform.limits.memory, load.records or database.nodes"


def row_bytes(load: Load) -> int:
    """Bytes on disk of one populated row on one replica."""
    if load.statements is not None:
        return OWN_ROW_BYTES if load.statements.populate is not None else 0
    return ROW_OVERHEAD_BYTES + load.columns * (load.column_bytes + COLUMN_OVERHEAD_BYTES)
