"""Setups that this version cannot run are refused with a remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from tare.machines.declaration import Missing
from tare.machines.inventory.host import Host, Inventory
from tare.runtimes.availability import obstacle
from tare.runtimes.declaration import Named
from tare.runtimes.kubernetes.facts import ClusterFacts, Machine
from tare.runtimes.swarm.facts import Node, SwarmFacts
from tare.study.platform import RuntimeName
from tare.study.schema import Setup

MACHINE = Machine("m1", "10.0.0.1", True, "", True, {}, "2", "4Gi", "6.1", "", "", frozenset())
FACTS = ClusterFacts("https://api", "v1.33.13", "flannel-vxlan", "iptables", (MACHINE,))
CLUSTER = {"kubernetes": Named(FACTS)}

NODE = Node("id1", "n1", "10.1.0.1", "worker", "", {"disk": "nvme"}, 2.0, 2**32, "20.10")
SWARM = {"swarm": Named(SwarmFacts("tcp://m", "20.10", (NODE,), ip_vs=False))}


def setup(**parts: Any) -> Setup:
    return Setup.model_validate(parts)


@pytest.mark.parametrize(
    "platform",
    [
        {},
        {"runtime": "docker", "network": "host", "storage": "layer"},
        {"runtime": "docker", "network": "published", "storage": "volume"},
        {"runtime": "docker", "network": "bridge", "endpoint": "proxy"},
    ],
)
def test_nothing_hinders_what_this_version_has(platform: dict[str, str]) -> None:
    assert obstacle(setup(platform=platform)) is None
    mongodb = {"kind": "mongodb", "version": "7.0.14", "stand_in": True}
    assert obstacle(setup(platform=platform, database=mongodb)) is None


@pytest.mark.parametrize(
    ("parts", "field", "why"),
    [
        (
            {"platform": {"runtime": "kubernetes", "storage": "pvc"}},
            "platform.runtime",
            "no Kubernetes cluster is named here",
        ),
        (
            {"client": {"tool": "latte"}, "platform": {"endpoint": "loopback"}},
            "client.tool",
            "latte may go where nodes say they are, not to their loopback",
        ),
        (
            {"platform": {"runtime": "swarm"}},
            "platform.runtime",
            "no Docker Swarm is named here",
        ),
        (
            {"platform": {"machines": "vmware", "runtime": "docker"}},
            "platform.machines",
            "this version makes no VMware machines",
        ),
        (
            {"platform": {"address": "floating-ip"}},
            "platform.address",
            "this version gives machines no floating-ip",
        ),
        (
            {"database": {"kind": "mongodb"}},
            "database.kind",
            "MongoDB's server cannot be fetched, and none is named",
        ),
        (
            {"database": {"kind": "mongodb"}, "platform": {"runtime": "docker"}},
            "database.kind",
            "MongoDB's server cannot be fetched, and none is named",
        ),
        (
            {
                "database": {"kind": "mongodb", "home": "/opt/mongodb"},
                "client": {"tool": "ycsb"},
            },
            "client.tool",
            "this version runs YCSB's own client with CQL only",
        ),
    ],
)
def test_each_obstacle_names_its_field_and_a_command(
    parts: dict[str, Any], field: str, why: str
) -> None:
    found = obstacle(setup(**parts))
    assert found is not None
    assert ".".join(found.field) == field
    assert found.why == why
    assert "`tare " in found.remedy


@pytest.mark.parametrize("threads", ["max", "66% of max"])
def test_two_runs_of_one_comparison_must_not_each_search_their_own_maximum(threads: str) -> None:
    sought = obstacle(setup(platform={"machines": "vmware"}, load={"threads": threads}))
    fixed = obstacle(setup(platform={"machines": "vmware"}, load={"threads": 64}))
    assert sought is not None
    assert fixed is not None
    assert "`--scale printed`" in sought.remedy
    assert "search a maximum of its own" in sought.remedy
    assert "maximum" not in fixed.remedy


def test_several_obstacles_are_all_said() -> None:
    found = obstacle(
        setup(database={"kind": "mongodb"}, platform={"machines": "vmware", "runtime": "swarm"})
    )
    assert found is not None
    assert found.field == ("database", "kind")
    assert found.why.count(";") == 2
    for word in ("MongoDB", "VMware", "Swarm"):
        assert word in found.why


def refused(wanted: Setup, named: dict[str, Named], field: str, why: str) -> None:
    found = obstacle(wanted, named)
    assert found is not None
    assert ".".join(found.field) == field
    assert why in found.why


def test_every_runtime_that_a_study_can_name_is_there() -> None:
    for name in get_args(RuntimeName):
        assert obstacle(setup(platform={"runtime": name}), CLUSTER | SWARM) is None


@pytest.mark.parametrize(
    ("parts", "field", "why"),
    [
        ({"plugin": "flannel-host-gw"}, "platform.plugin", "is flannel-vxlan, not flannel-host-gw"),
        (
            {"placement": {"spread": "required"}},
            "platform.placement.spread",
            "3 nodes on machines of their own, where 1 can take one",
        ),
        (
            {"placement": {"node_selector": {"disk": "nvme"}}},
            "platform.placement.node_selector",
            "no machine that can take a pod has all labels",
        ),
    ],
)
def test_what_the_named_cluster_lacks_is_an_obstacle(
    parts: dict[str, Any], field: str, why: str
) -> None:
    wanted = setup(platform={"runtime": "kubernetes", "storage": "pvc", **parts},
                   database={"nodes": 3, "replication_factor": 3})  # fmt: skip
    refused(wanted, CLUSTER, field, why)


def test_a_cluster_that_does_not_answer_is_no_obstacle_for_it_may_answer_later() -> None:
    wanted = setup(platform={"runtime": "kubernetes", "storage": "pvc", "plugin": "bridge"})
    assert obstacle(wanted, {"kubernetes": Named()}) is None


def test_other_tools_do_not_follow_an_endpoint_that_nodes_do_not_know() -> None:
    def wanted(network: str) -> Setup:
        return setup(
            platform={"runtime": "kubernetes", "storage": "pvc", "network": network},
            client={"tool": "latte"},
        )

    refused(wanted("node-port"), CLUSTER, "client.tool", "goes where nodes say they are")
    assert obstacle(wanted("container-dns"), CLUSTER) is None


INSIDE = {"runtime": "swarm", "network": "bridge"}


@pytest.mark.parametrize(
    ("platform", "client", "field", "why"),
    [
        ({"network": "service-ip"}, INSIDE, "platform.network", "kernel lacks IP_VS"),
        ({"network": "node-port"}, {}, "platform.network", "kernel lacks IP_VS"),
        ({"network": "container-dns"}, {}, "platform.network", "by containers on its network only"),
        ({"plugin": "weave"}, {}, "platform.plugin", "the overlay driver, not with Weave"),
        ({"network": "host-port"}, {"tool": "latte"}, "client.tool", "a network of containers"),
        (
            {"placement": {"spread": "required"}},
            {},
            "platform.placement.spread",
            "3 nodes on machines of their own, where 1 can take one",
        ),
    ],
)
def test_what_the_named_swarm_lacks_is_an_obstacle(
    platform: dict[str, Any], client: dict[str, Any], field: str, why: str
) -> None:
    wanted = setup(
        platform={"runtime": "swarm", "storage": "volume", **platform},
        client=client,
        database={"nodes": 3, "replication_factor": 3},
    )
    refused(wanted, SWARM, field, why)


def test_a_swarm_whose_kernel_is_not_known_is_left_to_the_proof_of_the_path() -> None:
    wanted = setup(platform={"runtime": "swarm", "network": "node-port", "storage": "volume"})
    unknown = {"swarm": Named(SwarmFacts("tcp://m", "20.10", (NODE,), ip_vs=None))}
    assert obstacle(wanted, unknown) is None
    assert obstacle(wanted, {"swarm": Named()}) is None


ON_HOSTS = {"machines": "ssh"}


def hosts(nodes: int, clients: int) -> Inventory:
    made = [Host(f"db{i}", f"192.0.2.{i}", groups=frozenset({"nodes"})) for i in range(nodes)]
    made += [
        Host(f"load{i}", f"198.51.100.{i}", groups=frozenset({"clients"})) for i in range(clients)
    ]
    return Inventory(Path("hosts.ini"), tuple(made))


@pytest.mark.parametrize("client", [{}, ON_HOSTS])
def test_hosts_of_the_inventory_take_nodes_and_load(client: dict[str, str]) -> None:
    wanted = setup(platform=ON_HOSTS, client=client, database={"nodes": 3})
    assert obstacle(wanted, inventory=hosts(3, 2)) is None


@pytest.mark.parametrize("server", [{"home": "/opt/mongo"}, {"stand_in": True}])
def test_a_mongod_or_the_stub_is_brought_to_hosts(server: dict[str, Any]) -> None:
    wanted = setup(platform=ON_HOSTS, database={"kind": "mongodb", **server})
    assert obstacle(wanted, inventory=hosts(1, 1)) is None


@pytest.mark.parametrize(
    ("parts", "there", "field", "why"),
    [
        ({"platform": ON_HOSTS}, None, "platform.machines", "no inventory of hosts is named"),
        (
            {"platform": ON_HOSTS, "database": {"nodes": 3}},
            hosts(2, 1),
            "platform.machines",
            "3 database nodes, each on a host of its own, where the inventory has 2",
        ),
        (
            {
                "platform": {**ON_HOSTS, "runtime": "docker", "storage": "volume"},
                "database": {"kind": "mongodb", "image": "mongo:7.0"},
            },
            hosts(1, 1),
            "database.image",
            "makes its own image on other hosts",
        ),
        (
            {
                "platform": {**ON_HOSTS, "runtime": "docker", "storage": "volume"},
                "database": {"image": "cassandra:5"},
            },
            hosts(1, 1),
            "database.image",
            "makes its own image on other hosts",
        ),
        (
            {
                "platform": ON_HOSTS,
                "client": {**ON_HOSTS, "runtime": "docker", "network": "bridge"},
            },
            hosts(1, 1),
            "client.network",
            "the hosts' own network",
        ),
        (
            {"platform": ON_HOSTS, "client": ON_HOSTS},
            hosts(1, 0),
            "client.machines",
            "no host for load clients",
        ),
        (
            {"platform": ON_HOSTS, "client": {"machines": "ssh", "tool": "latte"}},
            hosts(1, 1),
            "client.tool",
            "does not bring latte to other hosts",
        ),
    ],
)
def test_what_the_inventory_lacks_is_an_obstacle(
    parts: dict[str, Any], there: Inventory | None, field: str, why: str
) -> None:
    found = obstacle(setup(**parts), inventory=there)
    assert found is not None
    assert ".".join(found.field) == field
    assert why in found.why
    assert found.remedy


@pytest.mark.parametrize(("address", "service"), [("2001:db8::1", ""), ("db1", "2001:db8::1")])
def test_a_node_at_an_ipv6_address_is_an_obstacle(address: str, service: str) -> None:
    def there(service: str) -> Inventory:
        made = Host("db1", address, service=service, groups=frozenset({"nodes"}))
        return Inventory(Path("hosts.ini"), (made,))

    found = obstacle(setup(platform=ON_HOSTS), inventory=there(service))
    assert found is not None
    assert "db1: this version reaches databases by IPv4 only" in found.why
    assert "service" in found.remedy
    assert obstacle(setup(platform=ON_HOSTS), inventory=there("192.0.2.1")) is None


@pytest.mark.parametrize("named", [{"image": "mongo:7"}, {"home": "/opt/mongodb"}])
@pytest.mark.parametrize("runtime", ["docker", "swarm", "kubernetes"])
def test_mongodb_runs_wherever_its_server_is_named(runtime: str, named: dict[str, str]) -> None:
    networks = {"docker": "host", "swarm": "host-port", "kubernetes": "service-ip"}
    wanted = setup(
        database={"kind": "mongodb", "version": "7.0", **named},
        platform={"runtime": runtime, "network": networks[runtime]},
    )
    assert obstacle(wanted, CLUSTER | SWARM) is None


def test_virtual_machines_are_made_where_nothing_is_missing() -> None:
    assert obstacle(setup(platform={"machines": "kvm"})) is None
    gone = Missing("virtual machines are made with qemu-img", "apt-get install qemu-utils")
    found = obstacle(setup(platform={"machines": "kvm"}), missing=lambda name: gone)
    assert found is not None
    assert found.field == ("platform", "machines")
    assert (found.why, found.remedy) == (gone.why, gone.remedy)
    assert obstacle(setup(), missing=lambda name: gone) is None, "only who needs one asks"


def test_containers_on_hosts_may_have_published_ports() -> None:
    platform = {**ON_HOSTS, "runtime": "docker", "network": "published", "storage": "volume"}
    assert obstacle(setup(platform=platform, client=ON_HOSTS), inventory=hosts(1, 1)) is None


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ({"platform": {"runtime": "docker", "network": "published"}}, ("platform", "network")),
        ({"platform": {"runtime": "docker", "network": "bridge"}}, ("platform", "network")),
        ({"client": {"runtime": "docker", "network": "bridge"}}, ("client", "network")),
        (
            {"platform": {"runtime": "docker"}, "database": {"image": "cassandra:5"}},
            ("database", "image"),
        ),
    ],
)
def test_what_virtual_machines_do_not_have_is_left_out(
    parts: dict[str, Any], field: tuple[str, str]
) -> None:
    inside = parts.get("platform", {}) | {"machines": "kvm"}
    found = obstacle(setup(**(parts | {"platform": inside})))
    assert found is not None
    assert found.field == field
