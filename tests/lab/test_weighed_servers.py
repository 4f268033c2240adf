"""Which ways a weighing has, and to which servers."""

from __future__ import annotations

from tare.lab.weighed_servers import RUNTIMES, places, ways


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
    assert [one.endpoint for one in of_bridge] == ["loopback", "bridge", "published", "proxy"]
    assert len({one.server for one in of_bridge}) == 1


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
