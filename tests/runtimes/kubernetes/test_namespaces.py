"""Namespaces of dead runs are found by note and label; nothing else is touched.

The API is scripted.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes import namespaces
from tare.runtimes.kubernetes.refusals import no_answer
from tare.runtimes.kubernetes.settings import ClusterSettings
from tests.runtimes.kubernetes.scripted_api import SERVER, Clock, ScriptedApi, machine, running_pod

SETTINGS = ClusterSettings(context="rig")


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(namespaces, "notes_directory", lambda: tmp_path)
    return tmp_path


def made(api: ScriptedApi, run: str) -> namespaces.Namespace:
    return namespaces.make(api, f"tare-{run}", run, SETTINGS, "tare/pod:1", pull=False)


def test_what_a_dead_run_left_is_found_in_the_cluster_that_was_noted() -> None:
    api = ScriptedApi()
    made(api, "dead")
    asked: list[ClusterSettings] = []

    def connect(settings: ClusterSettings) -> ScriptedApi:
        asked.append(settings)
        return api

    (found,), unanswered = namespaces.leftovers(connect)
    assert unanswered == []
    assert (found.name, found.run, found.helper) == ("tare-dead", "dead", "tare/pod:1")
    assert asked == [SETTINGS]


def test_namespaces_of_others_and_of_other_machines_are_not_touched(
    monkeypatch: pytest.MonkeyPatch, notes: Path
) -> None:
    api = ScriptedApi()
    api.create({"kind": "Namespace", "metadata": {"name": "production"}})
    monkeypatch.setattr(platform, "node", lambda: "a-colleagues-machine")
    made(api, "alive")
    monkeypatch.undo()
    monkeypatch.setattr(namespaces, "notes_directory", lambda: notes)
    assert namespaces.leftovers(lambda settings: api) == ([], [])


def test_a_cluster_that_nobody_noted_is_not_asked() -> None:
    def connect(settings: ClusterSettings) -> ScriptedApi:
        raise AssertionError("it was asked")

    assert namespaces.leftovers(connect) == ([], [])


def test_one_that_does_not_answer_is_asked_again_another_time(notes: Path) -> None:
    api = ScriptedApi()
    made(api, "dead")

    def refuse(verb: str, kind: str, name: str) -> None:
        raise no_answer(SERVER, "timed out")

    api.refuse = refuse
    found, (unanswered,) = namespaces.leftovers(lambda settings: api)
    assert found == []
    (note,) = notes.iterdir()
    assert "tare-dead: the Kubernetes cluster does not answer" in unanswered
    assert f"if it is gone for good: rm {note}" in unanswered


def silent(verb: str, kind: str, name: str) -> None:
    raise no_answer(SERVER, "timed out")


@pytest.mark.parametrize("other", [ClusterSettings(context="other"), SETTINGS])
def test_a_namespace_of_the_same_name_in_another_cluster_hides_none(
    other: ClusterSettings,
) -> None:
    """This holds even if the same settings now lead to another cluster, as without a kubeconfig."""
    first, second = ScriptedApi(server="https://a"), ScriptedApi(server="https://b")
    made(first, "weigh")
    first.refuse = silent
    namespaces.remove(namespaces.make(second, "tare-weigh", "weigh", other, "", pull=False))
    found, (unanswered,) = namespaces.leftovers(lambda settings: first)
    assert found == []
    assert "tare-weigh: the Kubernetes cluster does not answer" in unanswered
    first.refuse = lambda verb, kind, name: None
    (one,), _ = namespaces.leftovers(lambda settings: first)
    assert one.api is first


def test_a_cluster_to_which_nothing_leads_any_more_keeps_its_note(notes: Path) -> None:
    made(ScriptedApi(server="https://a"), "dead")
    found, (told,) = namespaces.leftovers(lambda settings: ScriptedApi(server="https://b"))
    assert found == []
    assert "tare-dead: the kubeconfig leads to another one now (https://b, not https://a)" in told
    assert len(list(notes.iterdir())) == 1


def test_a_note_that_was_cut_off_is_told(notes: Path) -> None:
    api = ScriptedApi()
    made(api, "dead")
    (note,) = notes.iterdir()
    note.write_text(note.read_text(encoding="utf-8")[:20], encoding="utf-8")
    found, (unanswered,) = namespaces.leftovers(lambda settings: api)
    assert found == []
    assert f"tare-dead: its note cannot be read ({note})" in unanswered


def test_the_note_of_a_namespace_that_is_gone_goes_too(notes: Path) -> None:
    api = ScriptedApi()
    made(api, "dead")
    api.delete("Namespace", "tare-dead")
    assert namespaces.leftovers(lambda settings: api) == ([], [])
    assert list(notes.iterdir()) == []


def test_one_that_is_stuck_in_deletion_is_told_with_the_clusters_reason(notes: Path) -> None:
    api, clock = ScriptedApi(stuck={"tare-dead"}), Clock()
    one = made(api, "dead")
    api.kept["Namespace", "", "tare-dead"]["status"] = {
        "conditions": [
            {
                "type": "NamespaceFinalizersRemaining",
                "status": "True",
                "message": "Some content has finalizers remaining: foregroundDeletion",
            }
        ]
    }
    with pytest.raises(RuntimeUnavailableError) as caught:
        namespaces.remove(one, clock, clock.wait)
    assert "stuck in deletion" in caught.value.what
    assert "foregroundDeletion" in caught.value.why
    assert len(list(notes.iterdir())) == 1, "a later tare clean finds it"


def test_what_holds_it_is_named_also_to_the_next_run_of_that_name() -> None:
    api = ScriptedApi()
    made(api, "dead")
    api.kept["Namespace", "", "tare-dead"]["metadata"]["deletionTimestamp"] = "2026-11-22T07:00:00Z"
    api.kept["ConfigMap", "tare-dead", "held"] = {
        "kind": "ConfigMap",
        "metadata": {"name": "held", "finalizers": ["example.org/backup"]},
    }
    with pytest.raises(RuntimeUnavailableError, match="is stuck in deletion") as caught:
        made(api, "dead")
    assert "ConfigMap held waits for example.org/backup" in caught.value.why


def test_paused_pods_of_this_machine_go_on_before_they_are_to_die(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel is scripted here; tests/machines tests freezing itself."""
    api = ScriptedApi()
    one = made(api, "dead")
    pod = running_pod("c-0", "u1", api.nodes[0], "10.244.0.1", {})
    api.kept["Pod", "tare-dead", "c-0"] = pod
    thawed: list[Mapping[str, str]] = []
    monkeypatch.setattr(namespaces.local_pods, "process_of", lambda container: 4321)
    monkeypatch.setattr(
        namespaces.local_pods, "group_paths", lambda pid, container: {"freezer": f"/{container}"}
    )
    monkeypatch.setattr(namespaces.cgroups, "thaw_left", thawed.append)
    namespaces.remove(one)
    assert thawed == [{"freezer": "/u1"}]
    assert api.made("Namespace") == {}


def test_pods_of_a_machine_that_is_lost_do_not_hold_a_namespace_in_deletion() -> None:
    lost = machine("m2", conditions=[{"type": "Ready", "status": "Unknown"}])
    api, clock = ScriptedApi([machine("m1"), lost], stuck={"tare-dead"}), Clock()
    one = made(api, "dead")
    for node in api.nodes:
        name = f"on-{node['metadata']['name']}"
        api.kept["Pod", "tare-dead", name] = running_pod(name, name, node, "10.244.0.1", {})

    def wait(seconds: float) -> None:
        clock.wait(seconds)
        if "on-m2" not in api.made("Pod"):  # the namespace controller waits for this
            api.stuck.clear()
            api.delete("Namespace", "tare-dead")

    namespaces.remove(one, clock, wait)
    assert ("delete", "Pod", "on-m1") not in api.calls
    assert clock.now < 10
