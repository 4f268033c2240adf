"""The ways of a weighing, and their servers."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest

from tare.errors import RuntimeUnavailableError
from tare.lab.weighed_servers import RUNTIMES, WeighedServers, places, ways

if TYPE_CHECKING:
    from tare.runtimes.unit import Runtime
    from tare.study.platform import Platform


def test_native_is_always_weighed_as_the_others_are_compared_with_it() -> None:
    assert [one.name for one in ways(["docker"], [1])][:2] == ["native", "native again"]
    assert [one.name for one in ways([], [1])] == ["native", "native again"]


def test_a_way_s_server_is_the_one_of_its_runtime_and_network() -> None:
    every = places(RUNTIMES)
    for way in ways(RUNTIMES, [1]):
        place = every[way.server]
        assert place.runtime == way.runtime
        assert (way.name, way.endpoint) in place.ways


def test_endpoints_of_a_container_lead_to_one_server() -> None:
    of_bridge = [one for one in ways(["docker"], [1]) if one.endpoint != "host"]
    endpoints = [
        "loopback", "bridge", "published", "proxy", "between-nodes", "between-published",
    ]  # fmt: skip
    assert [one.endpoint for one in of_bridge] == endpoints
    assert len({one.server for one in of_bridge}) == 1


@pytest.mark.parametrize("runtime", ["docker", "kubernetes", "swarm"])
def test_the_way_between_two_nodes_is_weighed_with_every_number_in_flight(runtime: str) -> None:
    found = [one for one in ways([runtime], [1, 32]) if one.endpoint == "between-nodes"]
    assert [one.name for one in found] == [f"{runtime}.between-nodes"] * 2
    assert [one.in_flight for one in found] == [1, 32]


@pytest.mark.parametrize("runtime", ["docker", "kubernetes", "swarm", "lxc"])
def test_the_loopback_of_a_unit_leads_to_the_server_that_has_the_other_endpoints(
    runtime: str,
) -> None:
    found = [one for one in ways([runtime], [1]) if one.server == ways([runtime], [1])[-1].server]
    assert [one.endpoint for one in found].count("loopback") == 1
    assert len(found) > 2


def test_by_published_ports_nodes_reach_each_other_where_a_runtime_publishes_ports() -> None:
    found = [one.name for one in ways(RUNTIMES, [1]) if one.endpoint == "between-published"]
    assert {"docker.between-published", "podman.between-published"} <= set(found)
    assert not any(one.startswith(("kubernetes", "swarm", "native")) for one in found)


def test_a_native_server_is_reached_from_containers_where_it_is_asked_for() -> None:
    assert not any(one.endpoint == "to-host" for one in ways(RUNTIMES, [1]))
    every = partial(places, to_host=True)
    asked = [one for one in ways(RUNTIMES, [1, 32], placed=every) if one.endpoint == "to-host"]
    assert {one.name for one in asked} >= {"docker.to-host", "podman.to-host"}
    for way in asked:
        place, before = every(RUNTIMES)[way.server], every(RUNTIMES)[way.server - 1]
        assert (place.runtime, place.begins_in) == ("native", way.runtime)
        # whose unit's network namespace clients enter
        assert (before.runtime, before.several) == (way.runtime, True)


class Orchestrator:
    """Packets arrive through some endpoints, but not through others."""

    name = "kubernetes"

    def __init__(self, **faults: RuntimeUnavailableError) -> None:
        self.faults = faults
        self.proven: list[tuple[str, str, int, set[str]]] = []

    def prove(self, platform: Platform, nodes: int, port: int, clients: set[str]) -> dict[str, Any]:
        way = "between" if nodes > 1 else platform.endpoint.replace("-", "_")
        self.proven.append((way, platform.placement.spread, nodes, clients))
        if way in self.faults:
            raise self.faults[way]
        return {}


def left_out(runtime: Orchestrator) -> dict[str, str]:
    with contextlib.ExitStack() as stack:
        servers = WeighedServers(stack, [], lambda line: None)
        servers._take("kubernetes", cast("Runtime", runtime), "image")
        return servers.left_out


def test_between_two_nodes_packets_are_seen_to_pass_inside_and_on_two_machines() -> None:
    runtime = Orchestrator()
    assert left_out(runtime) == {}
    assert runtime.proven[-1] == ("between", "required", 2, {"kubernetes"})


def test_where_there_is_no_second_node_the_way_between_two_is_left_out_with_the_reason() -> None:
    alone = RuntimeUnavailableError(
        "the cluster has too few nodes: 1 can take a pod, 2 are needed", where="platform.placement"
    )
    assert left_out(Orchestrator(between=alone)) == {
        "kubernetes.between-nodes": "there is no second node: the cluster has too few nodes: 1 can "
        "take a pod, 2 are needed"
    }


def test_where_no_way_leads_in_none_between_nodes_is_tried() -> None:
    silent = RuntimeUnavailableError("packets do not arrive", where="platform.network")
    names = ("host_port", "node_port", "service_ip", "container_dns")
    runtime = Orchestrator(**dict.fromkeys(names, silent))
    with pytest.raises(RuntimeUnavailableError, match="no way leads into kubernetes"):
        left_out(runtime)
    assert [one[0] for one in runtime.proven] == list(names)


def test_checks_are_made_with_the_fewest_in_flight_alone() -> None:
    many = [one.name for one in ways(["docker"], [1, 32]) if one.in_flight == 32]
    assert "native" in many
    assert "native again" not in many
    assert "docker.host" not in many


def test_a_way_that_is_not_to_be_had_is_no_way_and_moves_no_other() -> None:
    without = ways(["docker", "swarm"], [1], ["docker.host", "swarm.service-ip"])
    names = [one.name for one in without]
    assert "docker.host" not in names
    assert "swarm.service-ip" not in names
    bridge = next(one for one in without if one.name == "docker.bridge")
    assert places(["docker", "swarm"])[bridge.server].network == "bridge"
