"""Which things in an engine this machine may remove."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare import starter
from tare.errors import RuntimeUnavailableError
from tare.runtimes import docker_engine
from tare.runtimes.docker_declaration import DECLARED


def thing(**attrs: Any) -> Any:
    return SimpleNamespace(attrs=attrs)


def swept(monkeypatch: pytest.MonkeyPatch, *things: Any) -> list[Any]:
    """Those of `things` that `leftovers` finds; the engine has them as every kind."""
    listing = SimpleNamespace(list=lambda **_: [*things])
    engine = SimpleNamespace(containers=listing, networks=listing, volumes=listing)
    monkeypatch.setattr(docker_engine, "connect", lambda timeout_s: engine)
    found, silent = docker_engine.leftovers()
    assert silent == ""
    containers, networks, volumes = found.values()
    assert containers == networks == volumes
    return containers


def test_what_another_machine_made_through_a_shared_engine_is_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = {"tare.run": "a", "tare.host": platform.node()}
    of_docker = thing(Config={"Labels": {"tare.run": "a"}})
    of_swarm = thing(Labels=own)
    elsewhere = thing(Labels=own | {"tare.host": "another"})
    assert swept(monkeypatch, of_docker, of_swarm, elsewhere) == [of_docker, of_swarm]


def test_what_another_tare_makes_through_the_same_engine_is_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another Tare has its own lock: on this machine, in a container, on another machine."""
    pid, start, boot, ids = starter.mark().split("-")
    parent = os.getppid()
    began = Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[19]
    here = platform.node()
    marks = {
        "own": f"{pid}-{start}-{boot}-{ids}@{here}",
        "dead": f"999999999-{start}-{boot}-{ids}@{here}",
        "before the boot": f"{pid}-{start}-{'0' * 12}-{ids}@{here}",
        "alive": f"{parent}-{began}-{boot}-{ids}@{here}",
        "in a container": f"999999999-{start}-{boot}-1@{here}",
        "elsewhere": f"{pid}-{start}-{'0' * 12}-{ids}@another",
        "no mark": f"mine@{here}",
    }
    things = [
        thing(Labels={"tare.run": name, "tare.starter": mark}) for name, mark in marks.items()
    ]
    found = [one.attrs["Labels"]["tare.run"] for one in swept(monkeypatch, *things)]
    assert found == ["own", "dead", "before the boot"]


def test_what_this_process_makes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    made = thing(Labels=docker_engine.labels_of("a"))
    assert swept(monkeypatch, made) == [made]


@pytest.mark.parametrize("named", [True, False])
def test_an_engine_that_should_be_there_and_does_not_answer_is_told(
    named: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(timeout_s: int) -> None:
        raise RuntimeUnavailableError("no Docker engine answers", why="connection refused")

    monkeypatch.setattr(docker_engine, "connect", refused)
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setattr(docker_engine, "SOCKET", tmp_path / "docker.sock")
    assert docker_engine.leftovers() == ({}, ""), "there is none on this machine"
    if named:
        monkeypatch.setenv("DOCKER_HOST", "tcp://engine:2375")
    else:  # a killed engine leaves its socket
        (tmp_path / "docker.sock").touch()
    assert docker_engine.leftovers() == ({}, "connection refused")


class Volumes:
    """An engine's volumes; creating an existing name returns the existing volume."""

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


@pytest.mark.parametrize(
    ("host", "elsewhere"),
    [
        ("", False),
        ("unix:///var/run/docker.sock", False),
        ("tcp://127.0.0.1:2375", False),
        ("tcp://engine:2376", True),
        ("ssh://root@engine", True),
    ],
)
def test_an_engine_of_another_machine_is_refused_with_its_name(
    monkeypatch: pytest.MonkeyPatch, host: str, elsewhere: bool
) -> None:
    """The addresses and control groups of its containers are on that other machine."""
    monkeypatch.setenv("DOCKER_HOST", host)
    refused = ""
    try:
        docker_engine.refuse_elsewhere()
    except RuntimeUnavailableError as error:
        refused = error.where
    assert refused == (f"DOCKER_HOST={host}" if elsewhere else "")


def test_without_an_engine_the_remedy_is_one_that_needs_no_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tare installed from a wheel has no Makefile."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    seen = DECLARED.seen()
    assert not seen.ok
    assert seen.says.startswith("no Docker engine answers")
    assert seen.remedy.startswith("apt-get install docker.io, then start dockerd;")
