"""Names of the objects that Tare makes in a cluster."""

from __future__ import annotations

from tare.runtimes.kubernetes.names import namespace_of, pod_of


def test_runs_have_namespaces_and_nodes_have_pods_of_their_own() -> None:
    assert namespace_of("truyen-2018-cassandra") == "tare-truyen-2018-cassandra"
    assert pod_of("d1-k1", 2) == "d1-k1-2"
