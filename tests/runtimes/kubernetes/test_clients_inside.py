"""Load clients inside Kubernetes: jobs that print lines and hand their files over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tare.errors import LoadError, TareError
from tare.runtimes.kubernetes import client_job
from tare.runtimes.kubernetes.refusals import no_answer
from tare.study.platform import Platform
from tests.runtimes.kubernetes.scene import Scene, a_scene, client, notes_apart
from tests.runtimes.kubernetes.scripted_api import SERVER, ScriptedApi

notes = pytest.fixture(autouse=True)(notes_apart)
scene = pytest.fixture(a_scene)


def test_a_client_inside_is_a_job_that_tells_lines_and_hands_its_files_over(scene: Scene) -> None:
    pod = "d1-k1-trial-c1-x1"
    scene.api.logs[pod, "unit"] = b'{"event": "ready"}\nwarning: x\n{"event": "result"}\n'
    scene.api.logs[pod, "files"] = b'{"file": "latency-c1.hlog", "bytes": 4}\n#abc\n'
    running = client(scene)
    assert list(running.lines()) == ['{"event": "ready"}', '{"event": "result"}']
    assert (running.unit.site.conf_on_host / "latency-c1.hlog").read_text() == "#abc"
    running.stop()
    assert scene.api.made("Job") == scene.api.made("ConfigMap") == {}


def test_files_come_too_where_the_cluster_learns_late_that_a_client_ended(scene: Scene) -> None:
    pod, state = "d1-k1-trial-c1-x1", {"name": "unit", "state": {"running": {}}}

    def runs(document: Any) -> None:
        document["status"]["containerStatuses"][0] = state

    def ends() -> None:
        if scene.clock.now > 1:
            state["state"] = {"terminated": {"exitCode": 0}}

    scene.api.spoil, scene.clock.passed = runs, ends
    scene.api.logs[pod, "unit"] = b'{"event": "result"}\n'
    scene.api.logs[pod, "files"] = b'{"file": "latency-c1.hlog", "bytes": 4}\n#abc\n'
    running = client(scene)
    assert list(running.lines()) == ['{"event": "result"}']
    assert (running.unit.site.conf_on_host / "latency-c1.hlog").read_text() == "#abc"


def test_a_followed_log_that_never_ends_does_not_hold_up_a_client_that_was_ended(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_job, "_SILENT_S", 0.01)
    forgotten = threading.Event()

    def endless(*_: Any, **__: Any) -> Iterator[bytes]:
        yield b'{"event": "ready"}\n'
        forgotten.wait()

    monkeypatch.setattr(scene.api, "log", endless)
    running = client(scene)
    lines = running.lines()
    assert next(lines) == '{"event": "ready"}'
    running.terminate()
    assert list(lines) == []
    forgotten.set()


def test_files_of_a_client_that_was_ended_are_not_waited_for(scene: Scene) -> None:
    scene.api.logs["d1-k1-trial-c1-x1", "unit"] = b'{"event": "ready"}\n{"event": "interval"}\n'
    running = client(scene)
    lines = running.lines()
    next(lines)
    running.terminate()
    assert list(lines) == ['{"event": "interval"}']
    assert scene.clock.now < 1


def test_a_second_client_of_a_name_is_not_taken_for_the_first(scene: Scene) -> None:
    scene.api.lingering.add("d1-k1-trial-c1-x1")  # the first client's pod is still there
    scene.api.logs["d1-k1-trial-c1-x1", "unit"] = b'{"event": "first"}\n'
    scene.api.logs["d1-k1-trial-c1-2-x1", "unit"] = b'{"event": "second"}\n'
    client(scene).stop()
    second = client(scene)
    assert list(second.lines()) == ['{"event": "second"}']
    assert set(scene.api.made("ConfigMap")) == {"d1-k1-trial-c1-2"}  # a new one; no overwriting


def test_a_client_that_never_ends_though_its_output_has_is_told(scene: Scene) -> None:
    def runs_on(pod: Any) -> None:
        pod["status"]["containerStatuses"] = [{"name": "unit", "state": {"running": {}}}]

    scene.api.spoil = runs_on
    scene.api.logs["d1-k1-trial-c1-x1", "unit"] = b'{"event": "result"}\n'
    with pytest.raises(LoadError, match="the cluster says that it runs"):
        list(client(scene).lines())


def test_a_client_whose_pod_does_not_start_leaves_no_job(tmp_path: Path) -> None:
    def no_image(pod: Any) -> None:
        waiting = {"waiting": {"reason": "ErrImageNeverPull", "message": "not present"}}
        pod["status"]["containerStatuses"] = [{"name": "unit", "state": waiting}]

    scene = Scene(tmp_path, ScriptedApi(spoil=no_image))
    with pytest.raises(TareError) as caught:
        client(scene)
    assert "not present" in caught.value.why
    assert scene.api.made("Job") == {}


def lose_one(scene: Scene, verb: str, kind: str) -> None:
    """Leave the next request of this verb and kind unanswered."""

    def refuse(*asked: str) -> None:
        if asked[:2] == (verb, kind):
            scene.api.refuse = lambda *_: None
            raise no_answer(SERVER, "timed out")

    scene.api.refuse = refuse


def prove(scene: Scene) -> None:
    scene.prove(Platform(runtime="kubernetes", network="host", storage="layer"))


@pytest.mark.parametrize("begin", [prove, client])
def test_a_job_that_could_not_be_deleted_is_before_anything_else_is_made(
    scene: Scene, begin: Callable[[Scene], Any]
) -> None:
    running = client(scene)
    lose_one(scene, "delete", "Job")
    running.stop()
    assert "d1-k1-trial-c1" in scene.api.made("Job")
    began = len(scene.api.calls)
    begin(scene)
    assert "d1-k1-trial-c1" not in scene.api.made("Job")
    verbs = [verb for verb, _, _ in scene.api.calls[began:] if verb in ("create", "delete")]
    assert verbs[0] == "delete"
    assert "d1-k1-trial-c1" not in scene.api.made("ConfigMap")


@pytest.mark.parametrize("late", [False, True])
def test_a_job_of_which_no_answer_told_is_deleted_also_where_it_comes_late(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    create = scene.api.create
    held: list[tuple[Any, str]] = []

    def lost(manifest: Any, namespace: str = "") -> Any:
        if manifest["kind"] != "Job":
            return create(manifest, namespace)
        held.append((manifest, namespace))
        if not late:
            create(manifest, namespace)
        raise no_answer(SERVER, "timed out")

    monkeypatch.setattr(scene.api, "create", lost)
    with pytest.raises(TareError, match="does not answer"):
        client(scene)
    assert scene.api.made("Job") == scene.api.made("ConfigMap") == {}
    monkeypatch.setattr(scene.api, "create", create)
    if late:
        create(*held[0])
    prove(scene)
    assert scene.api.made("Job") == scene.api.made("Pod") == {}
