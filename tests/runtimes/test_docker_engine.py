"""What of an engine's things is this machine's to remove."""

from __future__ import annotations

import platform
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes import docker_engine


def thing(**attrs: Any) -> Any:
    return SimpleNamespace(attrs=attrs)


def test_what_another_machine_made_through_a_shared_engine_is_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = {"tare.run": "a", "tare.host": platform.node()}
    of_docker = thing(Config={"Labels": {"tare.run": "a"}})
    of_swarm = thing(Labels=own)
    elsewhere = thing(Labels=own | {"tare.host": "another"})
    listing = SimpleNamespace(list=lambda **_: [of_docker, of_swarm, elsewhere])
    engine = SimpleNamespace(containers=listing, networks=listing, volumes=listing)
    monkeypatch.setattr(docker_engine, "connect", lambda timeout_s: engine)
    for found in docker_engine.leftovers().values():
        assert found == [of_docker, of_swarm]


class Volumes:
    """The volumes of an engine, which makes none anew where there is one of that name."""

    def __init__(self, **there: dict[str, str] | None) -> None:
        self.there = dict(there)

    def create(self, name: str, labels: dict[str, str]) -> Any:
        return thing(Labels=self.there.setdefault(name, labels))

    def get(self, name: str) -> Any:
        def remove(*, force: bool) -> None:
            del self.there[name]

        return SimpleNamespace(attrs={"Labels": self.there[name]}, remove=remove)


OURS = {"tare.run": "a"}


@pytest.mark.parametrize("labels", [None, {}, {"tare.run": "another"}, {"mine": "a"}])
def test_a_volume_of_somebody_else_is_neither_taken_nor_removed(
    labels: dict[str, str] | None,
) -> None:
    volumes = Volumes(v=labels)
    engine: Any = SimpleNamespace(volumes=volumes)
    with pytest.raises(RuntimeUnavailableError, match="did not make it") as refused:
        docker_engine.own_volume(engine, "v", OURS)
    assert "docker volume inspect v" in refused.value.remedy
    docker_engine.remove_volume(engine, "v", OURS)
    assert volumes.there == {"v": labels}


def test_a_runs_own_volume_is_made_and_removed() -> None:
    volumes = Volumes()
    engine: Any = SimpleNamespace(volumes=volumes)
    docker_engine.own_volume(engine, "v", OURS)
    assert volumes.there == {"v": OURS}
    docker_engine.remove_volume(engine, "v", OURS)
    assert volumes.there == {}
