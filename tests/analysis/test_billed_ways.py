"""Which weighed way a condition's packets pass, and whether all of them do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tare.analysis.billed_ways import way_of, way_taken
from tare.analysis.tariff import Tariff
from tests.priced_ways import BRIDGE, price, weighing


@pytest.mark.parametrize(
    ("platform", "more", "way"),
    [
        ({}, {}, "native"),
        ({"runtime": "docker", "network": "bridge", "endpoint": "proxy"}, {}, "docker.proxy"),
        ({"runtime": "docker", "network": "published"}, {}, "docker.published"),
        ({"runtime": "kubernetes", "network": "service-ip"}, {}, "kubernetes.service-ip"),
        ({"machines": "ssh"}, {}, ""),
        ({"address": "floating-ip"}, {}, ""),
        ({}, {"clusters": 2}, ""),
        ({}, {"client": {"runtime": "docker"}}, ""),
    ],
)
def test_only_ways_that_are_weighed_have_a_price(
    platform: dict[str, Any], more: dict[str, Any], way: str
) -> None:
    found = way_of({"platform": platform, **more})
    assert (found.name, found.whole) == (way, True)
    assert bool(found.why) == (not way)


ON_BRIDGE = {"runtime": "docker", "network": "bridge"}


@pytest.mark.parametrize(
    ("platform", "client", "way"),
    [
        (ON_BRIDGE, ON_BRIDGE, "docker.between-nodes"),
        (ON_BRIDGE, {"runtime": "docker", "network": "host"}, ""),
        (ON_BRIDGE | {"endpoint": "published"}, ON_BRIDGE, ""),
        ({}, ON_BRIDGE, "docker.to-host"),
        ({}, {"runtime": "docker", "network": "host"}, ""),
        # gVisor has a network stack of its own
        (ON_BRIDGE | {"runtime": "gvisor"}, ON_BRIDGE | {"runtime": "gvisor"}, ""),
        (
            {"runtime": "swarm", "network": "container-dns"},
            {"runtime": "swarm", "network": "bridge"},
            "",
        ),
    ],
)
def test_a_client_in_a_container_pays_the_way_from_its_bridge_to_a_server_there_or_to_a_native_one(
    platform: dict[str, Any], client: dict[str, Any], way: str
) -> None:
    found = way_of({"platform": platform, "client": client})
    assert (found.name, found.whole) == (way, True)
    assert bool(found.why) == (not way)


def test_clients_in_containers_have_no_price_to_a_cluster_of_several_nodes() -> None:
    setup = {"platform": ON_BRIDGE, "client": ON_BRIDGE, "database": {"nodes": 3}}
    assert "one node alone" in way_of(setup).why


PODS = {"runtime": "kubernetes", "network": "container-dns"}


@pytest.mark.parametrize(
    ("platform", "way", "whole"),
    [
        ({}, "native", True),
        ({"runtime": "docker", "network": "host"}, "docker.host", True),
        ({"runtime": "docker", "network": "bridge"}, "docker.bridge", False),
        ({"runtime": "docker", "network": "bridge", "endpoint": "proxy"}, "docker.proxy", False),
        (PODS, "kubernetes.container-dns", False),
        (PODS | {"endpoint": "host-port"}, "kubernetes.host-port", False),
        # always through another machine than the pod's
        (PODS | {"endpoint": "node-port"}, "kubernetes.node-port", False),
        ({"runtime": "swarm", "network": "host-port"}, "swarm.host-port", False),
        ({"runtime": "docker", "network": "published"}, "docker.published", False),
    ],
)
def test_of_a_cluster_the_way_of_its_clients_is_all_of_it_on_the_host_s_loopback_only(
    platform: dict[str, Any], way: str, whole: bool
) -> None:
    found = way_of({"platform": platform, "database": {"nodes": 3}})
    assert (found.name, found.whole) == (way, whole)


@pytest.mark.parametrize(
    ("platform", "between"),
    [
        ({"runtime": "docker", "network": "published"}, "docker.between-published"),
        ({"runtime": "podman-crun", "network": "published"}, "podman-crun.between-published"),
        ({"runtime": "docker", "network": "bridge"}, "docker.between-nodes"),
        # clients take the port, nodes do not
        (
            {"runtime": "docker", "network": "bridge", "endpoint": "published"},
            "docker.between-nodes",
        ),
    ],
)
def test_nodes_reach_each_other_by_published_ports_where_their_network_is_that(
    platform: dict[str, Any], between: str
) -> None:
    found = way_of({"platform": platform, "database": {"nodes": 3}})
    assert found.between is not None
    assert found.between.name == between


@pytest.mark.parametrize(
    ("platform", "why"),
    [
        (PODS | {"endpoint": "service-ip"}, "by service-ip packets to some nodes pass another"),
        ({"runtime": "swarm", "network": "node-port"}, "by node-port packets to some nodes"),
    ],
)
def test_a_cluster_whose_clients_take_a_way_that_one_node_does_not_show_has_none(
    platform: dict[str, Any], why: str
) -> None:
    assert way_of({"platform": platform}).name
    found = way_of({"platform": platform, "database": {"nodes": 3}})
    assert (found.name, why in found.why) == ("", True)


@pytest.mark.parametrize(
    ("plugin", "refused"), [("", ""), ("flannel-vxlan", ""), ("bridge", "network plugin bridge")]
)
def test_the_prices_of_one_network_plugin_are_not_those_of_another(
    plugin: str, refused: str
) -> None:
    pods = price("kubernetes.host-port", 1, 5.0)
    path = "host-port, network plugin flannel-vxlan, destination translated, MTU 1450"
    tariff = Tariff(weighing(pods.model_copy(update={"path": path})))
    way = way_of({"platform": PODS | {"endpoint": "host-port", "plugin": plugin}})
    assert way.unpriced(tariff).endswith(refused)
    assert bool(way.unpriced(tariff)) == bool(refused)


@pytest.mark.parametrize(
    ("there", "refused"),
    [
        ({"cluster": {"network plugin": "flannel-vxlan"}}, ""),
        ({"cluster": {"network plugin": "flannel-host-gw"}}, "network plugin flannel-host-gw"),
        ({"cluster": {"network plugin": "not recognised"}}, "network plugin not recognised"),
        ({"cluster": "a text"}, ""),
        ({}, ""),
    ],
)
def test_a_study_that_names_no_network_plugin_has_the_prices_of_the_one_that_was_there(
    there: dict[str, Any], refused: str
) -> None:
    pods = price("kubernetes.host-port", 1, 5.0)
    path = "host-port, network plugin flannel-vxlan, destination translated, MTU 1450"
    tariff = Tariff(weighing(pods.model_copy(update={"path": path})))
    measured = SimpleNamespace(setup={"platform": PODS | {"endpoint": "host-port"}}, path=there)
    why = way_taken(measured).unpriced(tariff)  # type: ignore[arg-type]  # two of its fields
    assert why.endswith(refused)
    assert bool(why) == bool(refused)


def test_the_prices_between_nodes_are_those_of_the_study_s_network_plugin() -> None:
    way = way_of({"platform": PODS | {"endpoint": "host-port", "plugin": "flannel-host-gw"},
                  "database": {"nodes": 3}})  # fmt: skip
    assert way.between is not None
    path = "container-dns, network plugin flannel-vxlan, MTU 1450, from another node's pod"
    vxlan = price("kubernetes.between-nodes", 1, 9.0).model_copy(update={"path": path})
    assert way.between.unpriced(Tariff(weighing(vxlan))).endswith("flannel-host-gw")
    assert (
        way.between.unpriced(Tariff(BRIDGE)) == "the way kubernetes.between-nodes was not weighed"
    )
