"""One container of Cassandra, reached by every endpoint that it has."""

from __future__ import annotations

import pytest

from .conftest import NATIVE, Bench, leftovers

pytestmark = pytest.mark.engine

LEVEL = "    {0}: {{platform: {{runtime: docker, network: bridge, endpoint: {0}}}}}"
PATHS = {
    "native": "loopback of the host",
    "loopback": "loopback of the container",
    "bridge": "bridge and veth pair",
    "published": "published port: DNAT, bridge and veth pair",
    "proxy": "published port: userland docker-proxy, bridge and veth pair",
}
"""Condition to the path of its packets."""
HOSTS = {"loopback": "127.0.0.1", "bridge": "198.19.", "published": "198.18.", "proxy": "127.190."}


@pytest.mark.long  # in slices, which are usual, test_slices.py tries it
def test_four_endpoints_lead_to_one_server_and_stay_apart(bench: Bench) -> None:
    study = bench.study(NATIVE, *(LEVEL.format(name) for name in HOSTS))
    bench.measured("run", study, "--json")
    manifests = {m["condition"]: m for m in bench.manifests().values()}
    assert {name: m["status"] for name, m in manifests.items()} == dict.fromkeys(PATHS, "done")
    nodes = {name: m["units"][0] for name, m in manifests.items()}
    assert {name: node["path"] for name, node in nodes.items()} == PATHS
    assert len({nodes[name]["name"] for name in HOSTS}) == 1, "one container"
    assert {m["deployment"] for m in manifests.values()} == {"D1-native-1", "D1-loopback-1"}
    begun = [one["deployment"] for one in bench.journal() if one["event"] == "deployment begun"]
    assert sorted(begun) == ["D1-loopback-1", "D1-native-1"]
    for name, start in HOSTS.items():
        assert nodes[name]["endpoint"].startswith(start)
        assert nodes[name]["network"] == "bridge"
        (client,) = manifests[name]["clients"]
        assert client["ok"] > 100
        assert client["errors"] == 0
    relayed = {name: manifests[name]["engine_cpu_s"] / by_ok(manifests[name]) for name in HOSTS}
    others = max(relayed[name] for name in HOSTS if name != "proxy")
    assert relayed["proxy"] > 4 * others, "the packets of no other condition pass docker-proxy"
    assert leftovers() == []


@pytest.mark.long
def test_three_nodes_are_reached_by_the_endpoint_of_each(bench: Bench) -> None:
    several = [name for name in HOSTS if name != "loopback"]
    study = bench.study(NATIVE, *(LEVEL.format(name) for name in several), nodes=3)
    bench.measured("run", study, "--set", "design.slice=200ms", timeout=600)
    manifests = {m["condition"]: m for m in bench.manifests().values()}
    assert set(manifests) == {"native", *several}
    relayed = {}
    for name in several:
        manifest = manifests[name]
        assert manifest["status"] == "done", manifest["reason"]
        nodes = [one for one in manifest["units"] if one["role"] == "database"]
        assert len({one["endpoint"] for one in nodes}) == 3
        assert all(one["endpoint"].startswith(HOSTS[name]) for one in nodes)
        assert all(one["path"] == PATHS[name] for one in nodes)
        assert manifest["clients"][0]["errors"] == 0
        relayed[name] = manifest["engine_cpu_s"] / by_ok(manifest)
    others = max(relayed["bridge"], relayed["published"])
    assert relayed["proxy"] > 4 * others, "the client stays at the endpoint of every node"
    assert leftovers() == []


def by_ok(manifest: dict[str, list[dict[str, int]]]) -> int:
    """Answered operations."""
    return sum(client["ok"] for client in manifest["clients"])
