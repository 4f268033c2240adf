"""A short administrative CQL connection to one node: readiness, schema, self-description."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cassandra import ConsistencyLevel, DriverException
from cassandra.cluster import (
    EXEC_PROFILE_DEFAULT,
    Cluster,
    ExecutionProfile,
    NoHostAvailable,
)
from cassandra.connection import ConnectionException
from cassandra.policies import FallthroughRetryPolicy, WhiteListRoundRobinPolicy
from cassandra.query import SimpleStatement

from tare.errors import ClusterError

FAULTS = (DriverException, NoHostAvailable, ConnectionException, OSError)
"""everything that the driver raises when a node does not answer as it should"""


class Session:
    """CQL through exactly one coordinator."""

    def __init__(self, host: str, session: Any) -> None:
        self.host = host
        self._session = session

    def execute(self, text: str, consistency: str = "LOCAL_ONE") -> list[Any]:
        """Run one statement and return its rows.

        Raises:
            ClusterError: the node's own message.
        """
        level = getattr(ConsistencyLevel, consistency)
        try:
            return list(self._session.execute(SimpleStatement(text, consistency_level=level)))
        except FAULTS as error:
            raise ClusterError(
                f"CQL failed: {text[:120]}", where=self.host, why=str(error)
            ) from error


@contextmanager
def connect(host: str, port: int, timeout_s: float = 20.0) -> Iterator[Session]:
    """Open a session that talks to this node only, and close it afterwards.

    Raises:
        ClusterError: the node does not accept CQL connections.
    """
    profile = ExecutionProfile(
        load_balancing_policy=WhiteListRoundRobinPolicy([host]),
        retry_policy=FallthroughRetryPolicy(),
        request_timeout=timeout_s,
    )
    cluster = Cluster(
        [host],
        port=port,
        protocol_version=5,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        connect_timeout=timeout_s,
        schema_metadata_enabled=False,
        token_metadata_enabled=False,
        monitor_reporting_enabled=False,
    )
    try:
        try:
            session = cluster.connect()
        except FAULTS as error:
            raise ClusterError(
                "no CQL connection", where=f"{host}:{port}", why=str(error)
            ) from error
        yield Session(host, session)
    finally:
        cluster.shutdown()
