"""All deployments of a run start with an archive of their JVM's classes, or none does, and why.

Real archives are made and mapped under tests/integration.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.artifacts.class_archive import ClassArchive
from tare.errors import ArtifactError, DiskFullError
from tare.lab import class_archives as module
from tare.lab.class_archives import ClassArchives, key_of, recorder, recorders
from tare.lab.progress import Silent
from tare.study.schema import Design, Setup

NATIVE: dict[str, Any] = {}
DOCKER = {"platform": {"runtime": "docker", "network": "bridge", "storage": "volume"}}
HEAP = {"database": {"heap": "2GiB"}}
KUBERNETES = {"platform": {"runtime": "kubernetes"}}


def setup(fields: dict[str, Any]) -> Setup:
    return Setup.model_validate(fields)


class Scene:
    """Archives of an empty cache; archives to make are only noted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *setups: dict[str, Any]) -> None:
        self.made: list[str] = []
        self.said: list[str] = []
        self.failing: Exception | None = None
        self.setups = [setup(fields) for fields in setups]
        monkeypatch.setattr(module, "only_maker", lambda *_: nullcontext())
        monkeypatch.setattr(module.class_archive, "clear_jar_times", lambda tree: "")
        monkeypatch.setattr(module.class_archive, "find", lambda cache, key: None)
        monkeypatch.setattr(ClassArchives, "_make", lambda _, own, key, tree: self._make(key))
        resources: Any = SimpleNamespace(
            server=lambda one: SimpleNamespace(bits=SimpleNamespace(digest="bits")),
            tree=lambda one: None,
        )
        watcher = Silent(self.said)
        self.archives = ClassArchives(resources, Design(), watcher, self.setups, Path("/cache"))

    def _make(self, key: str) -> ClassArchive:
        if self.failing:
            raise self.failing
        self.made.append(key)
        return ClassArchive(Path(f"/cache/{key}/classes.jsa"), key)

    def found(self) -> list[tuple[ClassArchive | None, str]]:
        return [self.archives.of(one) for one in self.setups]


def test_one_archive_serves_native_nodes_and_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, NATIVE, DOCKER)
    (native, why), (docker, _) = scene.found()
    assert native is not None
    assert native == docker
    assert (why, len(scene.made), scene.said) == ("", 1, [])


def test_jvms_of_other_arguments_have_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, NATIVE, HEAP)
    (small, _), (large, _) = scene.found()
    assert small != large


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (KUBERNETES, "not started by this machine"),
        ({"platform": {"machines": "ssh"}}, "not started by this machine"),
        ({"database": {"image": "cassandra:5"}}, "other files"),
        ({"database": {"home": "/opt/cassandra"}}, "other files"),
        ({"database": {"kind": "mongodb"}}, "none of mongodb"),
        ({"database": {"jvm": ["-Xshare:off"]}}, "-Xshare:off"),
    ],
)
def test_where_one_condition_cannot_have_one_none_has(
    monkeypatch: pytest.MonkeyPatch, other: dict[str, Any], reason: str
) -> None:
    scene = Scene(monkeypatch, NATIVE, other)
    for archive, why in scene.found():
        assert archive is None
        assert reason in why
    assert not scene.made
    assert len(scene.said) == 1
    assert recorders(scene.setups) == []


def test_where_one_cannot_be_made_no_deployment_has_any(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, NATIVE, HEAP)
    scene.failing = ArtifactError("no class-data archive could be made", why="no room in memory")
    for archive, why in scene.found():
        assert archive is None
        assert "no room in memory" in why


def test_a_full_disk_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, NATIVE)
    scene.failing = DiskFullError("No space left on device")
    with pytest.raises(DiskFullError):
        scene.found()


def test_jars_whose_times_cannot_be_set_are_loaded_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, NATIVE)
    monkeypatch.setattr(module.class_archive, "clear_jar_times", lambda tree: "not yours")
    assert scene.found()[0][0] is None


def test_its_classes_are_those_of_one_native_node(monkeypatch: pytest.MonkeyPatch) -> None:
    own = recorder(setup(DOCKER | {"database": {"nodes": 3}, "clusters": 2}))
    assert (own.platform.runtime, own.database.nodes, own.clusters) == ("native", 1, 1)


def test_it_is_found_by_the_files_and_all_that_the_jvm_is_told() -> None:
    plain = setup(NATIVE).database
    assert key_of(plain, "bits") == key_of(setup(DOCKER).database, "bits")
    others = [
        key_of(plain, "other bits"),
        key_of(setup(HEAP).database, "bits"),
        key_of(setup({"database": {"jvm": ["-XX:+UseZGC"]}}).database, "bits"),
    ]
    assert len({key_of(plain, "bits"), *others}) == 4
