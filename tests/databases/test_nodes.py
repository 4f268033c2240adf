"""Operations on a cluster's nodes that are the same for every database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tare.errors import ClusterError, RuntimeUnavailableError
from tare.machines.cgroups import Accounting
from tare.runtimes.unit import Exit, Way
from tests.databases.mongodb.scripted import Node, Servers, cluster


class Stuck(Node):
    """A node that cannot be stopped."""

    def stop(self) -> None:
        super().stop()
        raise RuntimeUnavailableError("the engine does not answer")


def test_one_node_that_cannot_be_stopped_keeps_none_of_the_others(tmp_path: Path) -> None:
    made, runtime = cluster(tmp_path, Servers())
    made.deploy()
    first = runtime.launched[0]
    made.nodes[0] = stuck = Stuck(first.unit)  # type: ignore[assignment]
    with pytest.raises(RuntimeUnavailableError, match="does not answer"):
        made.destroy()
    assert [node.calls for node in (stuck, *runtime.launched[1:])] == [["stop"]] * 3
    assert made.nodes == []
    assert runtime.released == ["d1-k1"]


def test_a_node_gets_the_limits_the_placement_and_the_log_of_its_cluster(tmp_path: Path) -> None:
    made, runtime = cluster(tmp_path, Servers())
    made.deploy()
    unit = runtime.launched[0].unit
    assert unit.limits == made.platform.limits
    assert unit.placement == made.platform.placement
    assert (unit.log, unit.log_copy) == ("mongod.log", "d1-k1-n1-mongod.log")


def test_a_dead_node_is_told_with_the_log_that_says_more(tmp_path: Path) -> None:
    made, runtime = cluster(tmp_path, Servers())
    made.deploy()
    runtime.launched[2].ended = Exit(137, "killed")
    with pytest.raises(ClusterError, match="a database node died") as raised:
        made.check_alive()
    assert (raised.value.where, raised.value.why) == ("d1-k1-n3", "killed")
    assert "mongod.log" in raised.value.remedy


def test_a_server_that_ended_by_itself_is_told_in_its_last_words(tmp_path: Path) -> None:
    made, runtime = cluster(tmp_path, Servers())
    made.deploy()
    dead = runtime.launched[1]
    dead.ended = Exit(2, "exit status 2")
    dead.said = "usage: mongod\nmongod: unrecognized option '--config'\n"
    with pytest.raises(ClusterError) as raised:
        made.check_alive()
    assert raised.value.why == "exit status 2: mongod: unrecognized option '--config'"


def test_waiting_ends_with_what_was_missing_last(tmp_path: Path) -> None:
    servers = Servers()
    made, _ = cluster(tmp_path, servers)
    made.deploy()
    began = servers.now
    with pytest.raises(ClusterError, match="nothing came after 7 s") as raised:
        made.await_node(made.nodes[1], 7.0, "nothing came", lambda: "still nothing")
    assert 7.0 <= servers.now - began < 7.5
    assert (raised.value.where, raised.value.why) == ("d1-k1-n2", "still nothing")


def reached_by(node: Node, **ways: Way) -> None:
    node.unit = replace(node.unit, site=replace(node.unit.site, ways=ways))


def test_targets_and_namespace_are_those_of_the_endpoint(tmp_path: Path) -> None:
    made, runtime = cluster(tmp_path, Servers())
    made.deploy()
    loopback = Way("127.0.0.1", "loopback of the container", inside=True)
    for node in runtime.launched:
        reached_by(node, loopback=loopback, proxy=Way("127.190.0.7", "docker-proxy"))
        node.accounting = lambda: Accounting(pids=(77,))  # type: ignore[attr-defined]
    assert made.targets(endpoint="loopback") == [f"127.0.0.1:{made.PORT}"] * 3
    assert made.targets(endpoint="proxy") == [f"127.190.0.7:{made.PORT}"] * 3
    assert made.netns("loopback") == "/proc/77/ns/net"
    assert made.netns("proxy") == made.netns("") == ""


def test_sites_offer_several_endpoints_only_where_one_is_named(tmp_path: Path) -> None:
    for endpoint, asked in (("", False), ("proxy", True)):
        made, runtime = cluster(tmp_path / (endpoint or "none"), Servers())
        made.platform = made.platform.model_copy(update={"endpoint": endpoint})
        (tmp_path / (endpoint or "none")).mkdir()
        list(made.sites())
        assert runtime.several == [asked] * 3
