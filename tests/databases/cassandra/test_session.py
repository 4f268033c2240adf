"""If a node is lost, any error of the driver becomes one that names the node's address."""

from __future__ import annotations

from typing import Any

import pytest
from cassandra import OperationTimedOut
from cassandra.connection import ConnectionShutdown

from tare.databases.cassandra.session import Session
from tare.errors import ClusterError


class Broken:
    """A driver session with a broken connection."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def execute(self, statement: Any) -> Any:
        raise self._error


@pytest.mark.parametrize(
    "error",
    [
        ConnectionShutdown("[Errno 104] Connection reset by peer"),
        OperationTimedOut({}),
        ConnectionResetError(104, "Connection reset by peer"),
    ],
)
def test_a_node_that_dies_during_a_statement_is_a_cluster_error(error: Exception) -> None:
    with pytest.raises(ClusterError, match="CQL failed: CREATE") as caught:
        Session("198.18.0.1", Broken(error)).execute("CREATE KEYSPACE k")
    assert caught.value.where == "198.18.0.1"
    assert caught.value.why == str(error)
