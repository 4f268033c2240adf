"""Volumes on a Swarm's nodes hold exactly the snapshot, and are removed with their tasks.

The nodes' engines are scripted; tests/integration uses real ones.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError, NotFound

from tare.artifacts.digest import combined, tree_digests
from tare.artifacts.snapshot import NodeSnapshot
from tare.errors import ArtifactError, RuntimeUnavailableError
from tare.runtimes.swarm.leftovers import leftovers, remove
from tare.runtimes.swarm.names import labels_of
from tare.runtimes.swarm.volumes import NodeVolumes, left_on
from tests.archives import member, tar_of
from tests.runtimes.swarm.scripted_swarm import Clock, ScriptedSwarm

LABELS = labels_of("a-run", "n1")
ROWS = "data/ycsb/nb-1-big-Data.db"


class Engine:
    """An engine with volumes, and with the containers that fill them."""

    def __init__(self) -> None:
        self.held: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.filling: list[str] = []
        self.spoil: Callable[[dict[str, bytes]], object] = lambda files: None
        self.busy = 0
        self.lost = False
        self.volumes = SimpleNamespace(create=self.create, get=self.get, list=self.list)
        self.containers = SimpleNamespace(list=lambda **_: [])
        self.api = SimpleNamespace(
            create_host_config=lambda mounts: mounts,
            create_container=self.create_container,
            put_archive=self.put_archive,
            get_archive=self.get_archive,
            remove_container=lambda made, force: self.filling.remove(made),
        )

    def create(self, name: str, labels: dict[str, str]) -> Any:
        return SimpleNamespace(attrs=self.held.setdefault(name, {"Labels": labels}))

    def get(self, name: str) -> Any:
        if name not in self.held:
            raise NotFound("no such volume")
        return SimpleNamespace(
            name=name, attrs=self.held[name], remove=lambda force: self.remove(name)
        )

    def list(self, filters: dict[str, Any]) -> list[Any]:
        return [self.get(name) for name in self.held]

    def remove(self, name: str) -> None:
        if self.busy:
            self.busy -= 1
            raise APIError("volume is in use")
        del self.held[name]

    def create_container(self, image: str, *_: Any, **__: Any) -> dict[str, str]:
        self.filling.append("c")
        return {"Id": "c"}

    def put_archive(self, _: str, at: str, archive: Any) -> None:
        with tarfile.open(fileobj=archive) as opened:
            for one in opened:
                content = opened.extractfile(one)
                if content is not None:
                    self.files[one.name] = content.read()
        self.spoil(self.files)

    def get_archive(self, *_: Any) -> Any:
        held = (member(f"cassandra/{name}", content) for name, content in self.files.items())
        return [tar_of(*held)], {}


class Scene:
    """Two nodes; the settings name the engine of one."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.clock = Clock()
        self.volumes = NodeVolumes({"s2": "tcp://s2"}, self.connect, self.clock, self.clock.wait)

    def connect(self, named: str, timeout_s: int) -> Any:
        assert named == "tcp://s2"
        if self.engine.lost:
            raise RuntimeUnavailableError("no Docker engine answers", why="refused")
        return self.engine

    def fill(self, snapshot: NodeSnapshot, node: str = "s2") -> None:
        self.volumes.fill(node, "v", LABELS, "sha256:cassandra", snapshot)


@pytest.fixture
def scene() -> Scene:
    return Scene()


@pytest.fixture
def snapshot(tmp_path: Path) -> NodeSnapshot:
    root = tmp_path / "cache" / "1"
    (root / ROWS).parent.mkdir(parents=True)
    (root / ROWS).write_bytes(b"rows")
    return NodeSnapshot(root, combined(tree_digests(root)))


def test_a_volume_is_filled_without_starting_anything_and_goes_with_its_task(
    scene: Scene, snapshot: NodeSnapshot
) -> None:
    scene.fill(snapshot)
    assert scene.engine.held == {"v": {"Labels": LABELS}}
    assert scene.engine.files == {ROWS: b"rows"}
    assert scene.engine.filling == []
    scene.engine.busy = 2  # the task's container still uses the volume at the first two tries
    scene.volumes.remove(["v"])
    assert scene.engine.held == {}
    scene.volumes.remove()


def test_a_volume_that_then_holds_something_else_is_refused(
    scene: Scene, snapshot: NodeSnapshot
) -> None:
    scene.engine.spoil = lambda files: files.update(more=b"of another life")
    with pytest.raises(ArtifactError, match="differs from its snapshot"):
        scene.fill(snapshot)
    assert scene.engine.filling == []
    scene.volumes.remove()
    assert scene.engine.held == {}


def test_another_s_volume_of_that_name_stays(scene: Scene, snapshot: NodeSnapshot) -> None:
    scene.engine.create("v", {"whose": "another's"})
    with pytest.raises(RuntimeUnavailableError, match="volume of this name exists"):
        scene.fill(snapshot)
    scene.volumes.remove()
    assert "v" in scene.engine.held
    assert scene.engine.files == {}


def test_a_node_whose_engine_is_not_named_is_refused_with_what_helps(
    scene: Scene, snapshot: NodeSnapshot
) -> None:
    with pytest.raises(RuntimeUnavailableError, match="cannot be filled") as refused:
        scene.fill(snapshot, "s3")
    assert refused.value.where == "s3"
    assert "TARE_SWARM" in refused.value.remedy


def test_a_volume_of_a_node_that_is_gone_is_told_and_tried_again(
    scene: Scene, snapshot: NodeSnapshot
) -> None:
    scene.fill(snapshot)
    scene.engine.lost = True
    with pytest.raises(RuntimeUnavailableError, match="are left on nodes") as refused:
        scene.volumes.remove(["v"])
    assert refused.value.where == "s2"
    scene.engine.lost = False
    scene.volumes.remove()
    assert scene.engine.held == {}


def test_a_volume_that_stays_in_use_is_told(scene: Scene, snapshot: NodeSnapshot) -> None:
    scene.fill(snapshot)
    scene.engine.busy = 10_000
    with pytest.raises(RuntimeUnavailableError, match="are left on nodes") as refused:
        scene.volumes.remove()
    assert "in use" in refused.value.why


def test_what_a_dead_run_left_on_nodes_is_found_and_removed(
    scene: Scene, snapshot: NodeSnapshot
) -> None:
    scene.fill(snapshot)
    swarm = ScriptedSwarm()
    found = leftovers(lambda: swarm, {}, {"s2": lambda: scene.connect("tcp://s2", 10)})
    assert found.words() == {"volumes of Swarm nodes": ["v (s2)"]}
    scene.engine.busy = 2
    remove(found, scene.clock, scene.clock.wait)
    assert scene.engine.held == {}
    assert left_on(scene.connect("tcp://s2", 10)) == []


def test_a_node_s_engine_that_does_not_answer_is_told(scene: Scene) -> None:
    scene.engine.lost = True
    swarm = ScriptedSwarm()
    found = leftovers(lambda: swarm, {}, {"s2": lambda: scene.connect("tcp://s2", 10)})
    assert "node s2 does not answer: refused" in found.unanswered
