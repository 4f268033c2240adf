"""The probe says whether a cluster can be used, with a remedy. The API is scripted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.runtimes.kubernetes import probe, settings
from tare.runtimes.kubernetes.probe import NEEDED, fault
from tare.runtimes.kubernetes.refusals import no_answer
from tare.runtimes.kubernetes.settings import ClusterSettings
from tare.runtimes.registry import declared
from tests.runtimes.kubernetes.rights import granted
from tests.runtimes.kubernetes.scripted_api import SERVER, ScriptedApi, machine

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def told(api: ScriptedApi) -> str | None:
    return fault(ClusterSettings(), lambda settings: api)


def test_nothing_is_said_of_a_cluster_that_will_do() -> None:
    assert told(ScriptedApi()) is None


def test_missing_rights_are_listed_with_the_file_that_gives_them() -> None:
    said = told(ScriptedApi(denied={("create", "statefulsets"), ("get", "pods/log")}))
    assert said is not None
    assert "create statefulsets, get pods/log" in said
    assert "docs/kubernetes-rights.yaml" in said


def test_a_cluster_that_does_not_answer_is_named() -> None:
    def refuse(verb: str, kind: str, name: str) -> None:
        raise no_answer(SERVER, "Connection refused")

    said = told(ScriptedApi(refuse=refuse))
    assert said is not None
    assert SERVER in said
    assert "Connection refused" in said


def test_without_a_node_that_is_ready_the_reason_of_each_is_told() -> None:
    silent = [{"type": "Ready", "status": "Unknown", "message": "Kubelet stopped"}]
    said = told(ScriptedApi(nodes=[machine("m1", conditions=silent)]))
    assert said is not None
    assert "m1" in said
    assert "Kubelet stopped" in said


def test_the_file_of_rights_gives_what_is_asked_for_and_nothing_far_reaching() -> None:
    given = granted()
    assert {(verb, resource) for verb, resource, _ in NEEDED} <= given
    for verb, resource in given:
        assert "*" not in verb + resource
        assert resource not in ("secrets", "pods/exec", "nodes/proxy", "serviceaccounts")


def test_a_cluster_without_a_docker_engine_to_make_images_is_refused_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.setattr(probe, "fault", lambda settings: None)
    monkeypatch.setattr(settings, "cluster_settings", ClusterSettings)
    said = declared("kubernetes").fault()
    assert said is not None
    assert "no Docker engine answers" in said
    assert "dockerd" in said
