"""The cluster of a study's database, and what watches it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tare.databases.cassandra.cluster import CassandraCluster
from tare.databases.cassandra.cluster import Installation as CassandraInstallation
from tare.databases.cassandra.metrics import ServerWatch as CassandraWatch
from tare.databases.mongodb.cluster import MongoCluster
from tare.databases.mongodb.installation import Installation as MongoInstallation
from tare.databases.mongodb.metrics import ServerWatch as MongoWatch
from tare.errors import TareError

if TYPE_CHECKING:
    from tare.databases.cluster import Cluster, Installed, Watch
    from tare.runtimes.unit import Runtime
    from tare.study.schema import Platform, Setup


def make_cluster(
    name: str,
    setup: Setup,
    platform: Platform,
    runtime: Runtime,
    installation: Installed,
    host_memory: int,
) -> Cluster:
    """A cluster of the setup's database; nothing is started.

    Args:
        name: unique within the run.
        setup: the database and its load.
        platform: where it runs, which may be less confined than the setup's.
        runtime: how its units run.
        installation: the database's files, as the runtime shows them.
        host_memory: memory of the machine, bytes.
    """
    if isinstance(installation, MongoInstallation):
        return MongoCluster(
            name, setup.database, platform, setup.load, runtime, installation, host_memory,
            client=setup.client.runtime,
        )  # fmt: skip
    if isinstance(installation, CassandraInstallation):
        return CassandraCluster(name, setup.database, platform, setup.load, runtime, installation)
    raise TareError(
        "a cluster without the files of its database",
        where=name,
        remedy="tell of it: this is a fault of Tare's",
    )


def watch(clusters: Sequence[Cluster], wall: Callable[[], float]) -> Watch:
    """What watches all nodes of these clusters, which are of one kind. `wall` gives Unix time."""
    mongo = [cluster for cluster in clusters if isinstance(cluster, MongoCluster)]
    if mongo:
        return MongoWatch(mongo, wall)
    return CassandraWatch([c for c in clusters if isinstance(c, CassandraCluster)], wall)
