"""Tare waits for a task, and reports in the Swarm's own words why it does not start."""

from __future__ import annotations

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.swarm.manager import Document
from tare.runtimes.swarm.tasks import await_task, container_of, task_of
from tests.runtimes.swarm.scripted_swarm import NO_PID, Clock, ScriptedSwarm

SERVICE: Document = {
    "Labels": {},
    "EndpointSpec": {"Mode": "dnsrr"},
    "TaskTemplate": {"Networks": [], "Placement": {"Constraints": []}},
}


def started(swarm: ScriptedSwarm, clock: Clock | None = None) -> Document:
    ticks = clock or Clock()
    swarm.create_service("s", SERVICE)
    return await_task(swarm, "s", ticks, ticks.wait)


def in_state(state: str, said: str, code: int = 0) -> ScriptedSwarm:
    def script(task: Document, _service: Document) -> None:
        status = {"State": state, "Err": said, "ContainerStatus": {"ExitCode": code}}
        task["Status"] = status

    return ScriptedSwarm(script=script)


def test_a_task_that_runs_is_handed_over_with_its_container() -> None:
    assert container_of(started(ScriptedSwarm())) == ("c-s", NO_PID)


def test_a_node_without_the_image_is_told_and_how_it_gets_it() -> None:
    with pytest.raises(RuntimeUnavailableError, match="a task did not start") as caught:
        started(in_state("rejected", "No such image: sha256:1234"))
    assert "rejected: No such image: sha256:1234" in caught.value.why
    assert "TARE_SWARM" in caught.value.remedy


def test_a_task_that_fails_tells_its_last_words() -> None:
    swarm = in_state("failed", "task: non-zero exit (3)", code=3)
    swarm.output = b"one\nException: bad yaml\n"
    with pytest.raises(RuntimeUnavailableError) as caught:
        started(swarm)
    assert "non-zero exit (3)" in caught.value.why
    assert caught.value.why.endswith("Exception: bad yaml")
    assert caught.value.remedy == "docker service ps --no-trunc s"


def test_a_task_that_no_node_can_take_is_given_up_within_seconds() -> None:
    clock = Clock()
    with pytest.raises(RuntimeUnavailableError) as caught:
        started(in_state("pending", "no suitable node (insufficient resources on 3 nodes)"), clock)
    assert "insufficient resources on 3 nodes" in caught.value.why
    assert clock.now < 12


def test_a_task_that_never_gets_ready_is_given_up() -> None:
    clock = Clock()
    with pytest.raises(RuntimeUnavailableError, match="did not start"):
        started(in_state("preparing", ""), clock)
    assert 60 < clock.now < 62


def test_of_several_tasks_the_newest_counts() -> None:
    swarm = ScriptedSwarm()
    service = swarm.create_service("s", SERVICE)
    first = task_of(swarm, "s")
    assert first is not None
    swarm.made["task"]["later"] = first | {"ID": "later", "ServiceID": service, "CreatedAt": "9999"}
    newest = task_of(swarm, "s")
    assert newest is not None
    assert newest["ID"] == "later"
