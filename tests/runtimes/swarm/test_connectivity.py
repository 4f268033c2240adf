"""A path is measured only after packets were seen to pass it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.study.platform import Placement
from tests.runtimes.swarm.scripted_swarm import ScriptedSwarm, node
from tests.runtimes.swarm.test_runtime import INSIDE, OUTSIDE, Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def itself(target: str) -> str:
    """Answer each target as the unit that it names."""
    return "path-1" if "path-1" in target else "path-2"


def test_a_path_that_works_is_told_and_leaves_nothing(scene: Scene) -> None:
    seen = scene.prove("host-port")
    assert seen["endpoint"] == "host-port"
    assert "docker_gwbridge, destination translated" in seen["path"]
    assert seen["network"]["encapsulation"] == "VXLAN"
    assert seen["swarm"]["nodes"][0]["name"] == "swarm-1"
    assert [one["name"] for one in seen["seen from this machine"]] == ["path-1", "path-2"]
    assert scene.swarm.left() == []


def test_clients_inside_are_asked_for_inside(scene: Scene) -> None:
    scene.swarm.answers = itself
    seen = scene.prove("container-dns", INSIDE)
    assert scene.asked == []
    assert [one["target"] for one in seen["seen inside the cluster"]] == [
        "tasks.tare-a-run-path-1:9042",
        "tasks.tare-a-run-path-2:9042",
    ]
    assert seen["path"] == "container-dns, overlay network, VXLAN, MTU 1450"


@pytest.mark.parametrize("network", ["service-ip", "node-port"])
def test_a_proxy_without_ip_vs_is_not_runnable_here_and_the_remedy_is_named(
    scene: Scene, network: str
) -> None:
    with pytest.raises(
        RuntimeUnavailableError, match=f"network: {network} is not runnable here"
    ) as e:
        scene.prove(network, INSIDE)
    assert "connection timed out" in e.value.why
    assert "IP_VS" in e.value.remedy
    assert scene.swarm.left() == []


def test_what_was_seen_once_holds_for_the_run(scene: Scene) -> None:
    scene.prove("host-port")
    made = len(scene.swarm.log)
    scene.prove("host-port")
    with pytest.raises(RuntimeUnavailableError):
        scene.prove("service-ip", INSIDE)
    after = len(scene.swarm.log)
    with pytest.raises(RuntimeUnavailableError, match="not runnable here"):
        scene.prove("service-ip", INSIDE)
    assert after > made
    assert len(scene.swarm.log) == after


def test_a_unit_that_answers_in_place_of_another_is_no_proof(scene: Scene) -> None:
    scene.swarm.answers = lambda target: "path-1"
    with pytest.raises(RuntimeUnavailableError) as caught:
        scene.prove("container-dns", INSIDE)
    assert "path-1 answered in place of path-2" in caught.value.why


@pytest.mark.parametrize("network", ["service-ip", "container-dns"])
def test_clients_outside_are_told_to_go_inside(scene: Scene, network: str) -> None:
    with pytest.raises(RuntimeUnavailableError) as caught:
        scene.prove(network, OUTSIDE)
    assert caught.value.where == "client.runtime"
    assert "runtime: swarm" in caught.value.remedy
    assert scene.swarm.log == []


def test_too_few_nodes_are_told_with_what_is_wrong_with_the_others(tmp_path: Path) -> None:
    swarm = ScriptedSwarm([node("a", "10.0.0.1"), node("b", "10.0.0.2", state="down")])
    scene = Scene(tmp_path, swarm, Placement(spread="required"))
    with pytest.raises(RuntimeUnavailableError, match="too few nodes: 1 can take a task, 2") as e:
        scene.prove("host-port")
    assert "b: it is down" in e.value.why


def test_a_manager_that_was_lost_once_is_asked_again(scene: Scene) -> None:
    scene.prove("host-port")
    scene.swarm.lost = True
    with pytest.raises(RuntimeUnavailableError, match="manager does not answer"):
        scene.prove("container-dns", INSIDE)
    scene.swarm.lost = False
    scene.swarm.answers = itself
    assert scene.prove("container-dns", INSIDE)["endpoint"] == "container-dns"


def test_this_machine_getting_no_answer_is_not_runnable_either(scene: Scene) -> None:
    scene.silent = True
    with pytest.raises(RuntimeUnavailableError, match="packets from this machine do not reach"):
        scene.prove("host-port")
