"""Leftovers of dead runs in a Swarm are found by their labels; nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.runtimes.swarm.leftovers import leftovers, remove
from tare.runtimes.swarm.names import config_of
from tests.runtimes.swarm.test_runtime import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path)
    made.swarm.create_network("another's", {"tare.run": "x", "tare.host": "another"})
    made.swarm.create_network("nobody's", {})
    return made


def test_everything_of_this_machines_runs_is_found_and_removed(scene: Scene) -> None:
    scene.cluster("host-port")
    found = leftovers(lambda: scene.swarm)
    services = ["tare-a-run-d1-k1-n1", "tare-a-run-d1-k1-n2"]
    assert found.words() == {
        "Swarm services": services,
        "Swarm configs": [config_of(service, "cassandra.yaml") for service in services],
        "Swarm networks": ["tare-a-run-d1-k1"],
    }
    remove(found)
    assert scene.swarm.left() == ["another's", "nobody's"]


def test_services_go_before_what_they_hold(scene: Scene) -> None:
    scene.cluster("host-port")
    remove(leftovers(lambda: scene.swarm))
    kinds = [line.split()[1] for line in scene.swarm.log if line.startswith("remove")]
    assert kinds == ["service", "service", "config", "config", "network"]


def test_a_swarm_that_does_not_answer_is_left_alone(scene: Scene) -> None:
    scene.swarm.lost = True
    found = leftovers(lambda: scene.swarm, {"TARE_SWARM": "swarm.yaml"})
    assert found.words() == {}
    assert "the Swarm of TARE_SWARM: the Swarm's manager does not answer" in found.unanswered
    remove(found)
    by_docker = leftovers(lambda: scene.swarm, {"DOCKER_HOST": "tcp://swarm-1:2376"})
    assert "the Swarm of DOCKER_HOST: the Swarm's manager does not" in by_docker.unanswered


def test_docker_in_no_swarm_is_no_news_where_nobody_named_one(scene: Scene) -> None:
    scene.swarm.swarm = {"LocalNodeState": "inactive"}
    assert leftovers(lambda: scene.swarm, {}).unanswered == ""
    assert leftovers(lambda: scene.swarm, {"DOCKER_HOST": "unix:///x.sock"}).unanswered == ""
