"""Kubelets count the CPU time of pods on other machines; without the right to ask, it is 0."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes.api import Document
from tare.runtimes.kubernetes.refusals import ApiError, no_answer, refused
from tests.runtimes.kubernetes.scene import NAMESPACE, Scene, a_scene, notes_apart
from tests.runtimes.kubernetes.scripted_api import SERVER

notes = pytest.fixture(autouse=True)(notes_apart)
scene = pytest.fixture(a_scene)


def pod(seconds: float, namespace: str = NAMESPACE, name: str = "d1-k1-0") -> Document:
    cpu = {"usageCoreNanoSeconds": round(seconds * 1e9)}
    containers = [{"name": "unit", "cpu": cpu}]
    return {"podRef": {"name": name, "namespace": namespace}, "containers": containers}


def counts(*pods: Document) -> Callable[[str], Document]:
    return lambda node: {"pods": list(pods)}


def fails(error: ApiError) -> Callable[[str], Document]:
    def asked(node: str) -> Document:
        raise error

    return asked


def test_it_is_that_of_the_pod_in_the_run_s_own_namespace(scene: Scene) -> None:
    node = scene.cluster()[0]
    scene.api.counted = counts(pod(9.0, "tare-another"), pod(2.5), pod(7.0, name="d1-k1-1"))
    assert node.accounting().cpu_seconds() == 2.5


@pytest.mark.parametrize(
    "error", [refused(SERVER, 500, "timeout"), no_answer(SERVER, "timed out")], ids=["500", "none"]
)
def test_a_kubelet_that_does_not_answer_is_told_and_not_taken_for_0(
    scene: Scene, error: ApiError
) -> None:
    node = scene.cluster()[0]
    scene.api.counted = counts(pod(2.5))
    assert node.accounting().cpu_seconds() == 2.5
    scene.api.counted = fails(error)
    with pytest.raises(ApiError):
        node.accounting().cpu_seconds()


@pytest.mark.parametrize("told", [{"pods": []}, {}, {"pods": [pod(1.0) | {"containers": []}]}])
def test_neither_is_an_answer_without_the_pod(scene: Scene, told: Document) -> None:
    node = scene.cluster()[0]
    scene.api.counted = lambda node: told
    with pytest.raises(RuntimeUnavailableError, match="does not tell a pod's CPU time") as caught:
        node.accounting().cpu_seconds()
    assert caught.value.where == f"{NAMESPACE}/d1-k1-0 on m1"


@pytest.mark.parametrize("status", [401, 403])
def test_where_nobody_may_ask_it_is_0_for_the_whole_run(scene: Scene, status: int) -> None:
    first, second = scene.cluster()
    scene.api.counted = fails(refused(SERVER, status, "nodes/proxy is forbidden"))
    assert first.accounting().cpu_seconds() == 0.0
    scene.api.counted = counts(pod(2.5), pod(7.0, name="d1-k1-1"))
    assert [one.accounting().cpu_seconds() for one in (first, second)] == [0.0, 0.0]


def test_a_right_that_is_taken_away_in_the_middle_is_told(scene: Scene) -> None:
    node = scene.cluster()[0]
    scene.api.counted = counts(pod(2.5))
    node.accounting().cpu_seconds()
    scene.api.counted = fails(refused(SERVER, 403, "nodes/proxy is forbidden"))
    with pytest.raises(ApiError, match="a right is missing"):
        node.accounting().cpu_seconds()
