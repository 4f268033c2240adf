"""Containers that an engine could not start or remove are gone before the next launch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError, NotFound

from tare.errors import RuntimeUnavailableError
from tare.machines.addresses import AddressPool
from tare.runtimes.docker import DockerRuntime
from tare.runtimes.unit import Bits, Unit
from tare.study.schema import Limits

THEIRS = {"tare.run": "another", "tare.unit": "n1"}
OWN = "tare-run-n1"


class Things:
    """An engine's things of one kind: names, each with its labels."""

    def __init__(self, kind: str, ask: Callable[[str], None]) -> None:
        self.there: dict[str, dict[str, str]] = {}
        self._kind = kind
        self._ask = ask

    def create(self, name: str, labels: dict[str, str]) -> Any:
        self.there[name] = labels
        self._ask(f"create {self._kind} {name}")
        return self._thing(name)

    def get(self, name: str) -> Any:
        self._ask(f"get {self._kind} {name}")
        if name not in self.there:
            raise NotFound(f"no such {self._kind}")
        return self._thing(name)

    def list(self, *, filters: dict[str, Any], **_: bool) -> Any:
        self._ask(f"list {self._kind}s")
        wanted = {tuple(one.split("=")) for one in filters["label"]}
        return [self._thing(name) for name, own in self.there.items() if wanted <= {*own.items()}]

    def _thing(self, name: str) -> Any:
        def remove(**_: bool) -> None:
            self._ask(f"remove {self._kind} {name}")
            del self.there[name]

        labels = self.there[name]
        return SimpleNamespace(
            id=name, name=name, labels=labels, attrs={"Labels": labels}, remove=remove
        )


class Engine:
    """An engine whose requests fail once for each prefix in `failing`.

    A failing creation takes effect; only its reply is lost.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failing: list[str] = []
        self.containers = Things("container", self.ask)
        self.volumes = Things("volume", self.ask)
        self.networks = Things("network", self.ask)
        self.api = self

    def ask(self, what: str) -> None:
        self.asked.append(what)
        for one in self.failing:
            if what.startswith(one):
                self.failing.remove(one)
                raise APIError("no space left on device")

    @property
    def left(self) -> list[str]:
        return [name for kind in (self.containers, self.volumes) for name in kind.there]

    def create_host_config(self, **_: Any) -> dict[str, Any]:
        return {}

    def create_container(
        self, *_: Any, labels: dict[str, str], name: str = "helper", **more: Any
    ) -> dict[str, str]:
        return {"Id": self.containers.create(name, labels).id}

    def remove_container(self, name: str, force: bool) -> None:
        self.containers.get(name).remove()

    def inspect_container(self, name: str) -> dict[str, Any]:
        return {"State": {"Paused": False, "Status": "running"}}

    def start(self, name: str) -> None:
        self.ask(f"start {name}")

    def put_archive(self, name: str, *_: Any) -> None:
        self.ask(f"fill {name}")

    def get_archive(self, *_: Any) -> Any:
        return [], {}


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    made.containers.there["theirs"] = made.volumes.there["theirs"] = THEIRS
    return made


@pytest.fixture
def runtime(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> DockerRuntime:
    made = DockerRuntime("run", tmp_path, AddressPool())
    monkeypatch.setattr(made, "_client", engine)
    return made


def unit(runtime: DockerRuntime, name: str = "n1") -> Unit:
    site = runtime.site(name, role="database", network="host", storage="volume", group="g")
    snapshot: Any = SimpleNamespace(write_archive=lambda *_: None, compare_archive=lambda *_: None)
    return Unit(
        site, "database", ["sleep"], {}, Limits(), Bits("", "an image"), "volume",
        grace_s=0.0, snapshot=snapshot,
    )  # fmt: skip


@pytest.mark.parametrize(
    "fails",
    [
        *("create volume", "create container helper", "fill helper"),
        *(f"create container {OWN}", f"fill {OWN}", "start", f"get container {OWN}"),
    ],
)
def test_of_a_container_whose_start_fails_nothing_stays(
    engine: Engine, runtime: DockerRuntime, fails: str
) -> None:
    engine.failing = [fails]
    with pytest.raises(RuntimeUnavailableError, match="no space left"):
        runtime.launch(unit(runtime))
    assert engine.left == ["theirs", "theirs"]


def test_what_could_not_be_removed_goes_before_the_next_launch(
    engine: Engine, runtime: DockerRuntime
) -> None:
    engine.failing = [f"get container {OWN}", f"remove container {OWN}"]
    with pytest.raises(RuntimeUnavailableError, match="start container n1"):
        runtime.launch(unit(runtime))
    assert OWN in engine.left
    engine.asked.clear()
    runtime.launch(unit(runtime, "n2"))
    assert OWN not in engine.left
    removed = engine.asked.index(f"remove container {OWN}")
    assert removed < engine.asked.index("create container tare-run-n2")


def test_nothing_is_launched_beside_what_still_cannot_be_removed(
    engine: Engine, runtime: DockerRuntime
) -> None:
    engine.failing = ["start", *[f"remove container {OWN}"] * 2]
    with pytest.raises(RuntimeUnavailableError, match="start container n1"):
        runtime.launch(unit(runtime))
    engine.asked.clear()
    with pytest.raises(RuntimeUnavailableError, match="could not remove") as refused:
        runtime.launch(unit(runtime, "n2"))
    assert OWN in refused.value.where
    assert "create container tare-run-n2" not in engine.asked


@pytest.mark.parametrize("fails", [f"remove container {OWN}", "remove volume tare-n1-data"])
def test_what_a_stop_leaves_goes_with_its_group(
    engine: Engine, runtime: DockerRuntime, fails: str
) -> None:
    running = runtime.launch(unit(runtime))
    engine.failing = [fails]
    running.stop()
    assert len(engine.left) > 2
    runtime.release_group("g")
    assert engine.left == ["theirs", "theirs"]


def test_a_run_that_ends_says_what_its_engine_keeps(engine: Engine, runtime: DockerRuntime) -> None:
    running = runtime.launch(unit(runtime))
    engine.failing = [f"remove container {OWN}"] * 2
    running.stop()
    with pytest.raises(RuntimeUnavailableError, match="could not remove"):
        runtime.close()
