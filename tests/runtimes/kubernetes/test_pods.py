"""A pod's document tells how the pod ended, or why it does not start."""

from __future__ import annotations

from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes.pods import (
    await_pod,
    ended,
    forget_lost,
    hindrance,
    machine_fault,
    node_fault,
)
from tests.runtimes.kubernetes.scripted_api import Clock, ScriptedApi, machine, running_pod

NODE = machine("m1")


def pod(**status: Any) -> dict[str, Any]:
    made = running_pod("c-0", "u1", NODE, "10.244.0.1", {})
    made["status"] |= status
    return made


def container(**state: Any) -> list[dict[str, Any]]:
    return [{"name": "unit", **state}]


def test_a_pod_that_runs_has_not_ended() -> None:
    assert ended(pod(), "unit") is None


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            {"containerStatuses": container(state={"terminated": {"exitCode": 3}})},
            "exit status 3",
        ),
        (
            {
                "containerStatuses": container(
                    state={"running": {}},
                    restartCount=1,
                    lastState={"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
                )
            },
            "more memory than its limit",
        ),
        (
            {"containerStatuses": container(state={"running": {}}, restartCount=2)},
            "started again 2 times",
        ),
        (
            {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory"},
            "Evicted: The node was low on memory",
        ),
    ],
)
def test_however_a_pod_ended_the_reason_is_told(status: dict[str, Any], said: str) -> None:
    found = ended(pod(**status), "unit")
    assert found is not None
    assert said in found.detail


def test_a_pod_that_nobody_could_place_says_so() -> None:
    waiting = pod(
        containerStatuses=[],
        conditions=[
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "0/3 nodes are available: 3 Insufficient memory.",
            }
        ],
    )
    assert hindrance(waiting) == (
        "Unschedulable",
        "0/3 nodes are available: 3 Insufficient memory.",
    )


def test_a_node_that_is_not_ready_is_named_with_the_reason() -> None:
    assert node_fault(NODE) == ""
    silent = machine(
        "m2",
        conditions=[
            {"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status"}
        ],
    )
    assert "m2" in node_fault(silent)
    assert "Kubelet stopped posting node status" in node_fault(silent)


def start(api: ScriptedApi, document: dict[str, Any], clock: Clock) -> dict[str, Any]:
    api.kept["Pod", "ns", "c-0"] = document
    return await_pod(api, "ns", "c-0", "unit", clock=clock, wait=clock.wait)


def test_a_pod_that_runs_is_given_at_once() -> None:
    clock = Clock()
    assert start(ScriptedApi(), pod(), clock)["metadata"]["name"] == "c-0"
    assert clock.now == 0


@pytest.mark.parametrize("reason", ["ErrImageNeverPull", "ImagePullBackOff"])
def test_an_image_that_no_node_has_is_told_at_once_with_events_and_what_to_do(reason: str) -> None:
    api, clock = ScriptedApi(), Clock()
    api.tell("c-0", reason, "Container image is not present", namespace="ns", count=3)
    waiting = {"waiting": {"reason": reason, "message": "not present on this node"}}
    with pytest.raises(RuntimeUnavailableError) as caught:
        start(api, pod(containerStatuses=container(state=waiting)), clock)
    assert clock.now == 0
    assert "not present on this node" in caught.value.why
    assert "Container image is not present (3 times)" in caught.value.why
    assert "images.import" in caught.value.remedy


def test_a_pod_that_never_starts_is_given_up_in_time() -> None:
    api, clock = ScriptedApi(), Clock()
    api.tell("c-0", "FailedScheduling", "0/2 nodes are available", namespace="ns")
    unplaced = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    with pytest.raises(RuntimeUnavailableError) as caught:
        start(api, pod(containerStatuses=[], conditions=[unplaced]), clock)
    assert clock.now < 100
    assert "0/2 nodes are available" in caught.value.why
    assert "placement" in caught.value.remedy


def test_a_failure_before_the_unit_is_told_as_the_reason() -> None:
    failed = [{"name": "own-name", "state": {"terminated": {"exitCode": 1, "message": "no DNS"}}}]
    waiting = container(state={"waiting": {"reason": "PodInitializing"}})
    with pytest.raises(RuntimeUnavailableError) as caught:
        start(ScriptedApi(), pod(initContainerStatuses=failed, containerStatuses=waiting), Clock())
    assert "no DNS" in caught.value.why


def test_a_pod_whose_machine_is_lost_before_it_runs_is_not_waited_for() -> None:
    lost = machine(
        "m1", conditions=[{"type": "Ready", "status": "Unknown", "message": "Kubelet stopped"}]
    )
    api, clock = ScriptedApi([lost]), Clock()
    with pytest.raises(RuntimeUnavailableError) as caught:
        start(api, pod(containerStatuses=[]), clock)
    assert clock.now < 5
    assert "its machine m1 is not ready" in caught.value.why
    assert caught.value.remedy == "kubectl describe node m1"


def test_a_machine_that_was_removed_from_the_cluster_is_lost_too() -> None:
    assert machine_fault(ScriptedApi(), "m1") == ""
    assert "removed from the cluster" in machine_fault(ScriptedApi(), "m9")


def test_only_pods_of_lost_machines_are_forgotten() -> None:
    lost = machine("m2", conditions=[{"type": "Ready", "status": "False"}])
    api = ScriptedApi([machine("m1"), lost])
    pods = [running_pod(f"c-{i}", f"u{i}", node, "", {}) for i, node in enumerate(api.nodes)]
    forget_lost(api, "ns", pods)
    assert [call for call in api.calls if call[0] == "delete"] == [("delete", "Pod", "c-1")]
