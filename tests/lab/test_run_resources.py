"""A run whose preparation fails leaves nothing of it behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tare.artifacts.image import LOAD
from tare.errors import RuntimeUnavailableError
from tare.lab import run_resources
from tare.machines.addresses import EXPOSED
from tare.machines.facts import local_facts
from tare.machines.inventory.host import Host, Inventory
from tare.runtimes.declaration import Declaration
from tare.runtimes.images import Images
from tare.runtimes.registry import registered
from tare.runtimes.ssh.hosts import Hosts
from tare.runtimes.unit import Bits
from tare.study.schema import Setup


class Gone:
    """Hosts: one cannot be reached, and another still holds something."""

    closed = False

    def prepare(self, say: Callable[[str], None]) -> None:
        raise RuntimeUnavailableError("the host is not reached over SSH", where="db2")

    def close(self) -> None:
        self.closed = True
        raise RuntimeUnavailableError("a container is left", where="db1")


def test_connections_to_hosts_end_where_one_of_them_is_not_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts: Any = Gone()
    monkeypatch.setattr(run_resources, "hosts_for", lambda *_: hosts)
    monkeypatch.setattr(run_resources, "runtimes_for", lambda *_: {})
    said: list[str] = []
    with pytest.raises(RuntimeUnavailableError, match="not reached"):
        run_resources.prepare("run", tmp_path / "work", [Setup()], said.append)
    assert hosts.closed
    assert [one.splitlines()[0] for one in said] == ["something was left: db1: a container is left"]


class Broken(Gone):
    """Fails unexpectedly when it is closed."""

    def close(self) -> None:
        self.closed = True
        raise ValueError("no JSON")


def test_all_is_closed_whatever_one_of_them_fails_with(tmp_path: Path) -> None:
    first, left, last = Broken(), Gone(), Gone()
    runtimes: Any = {"native": first, "docker": left}
    hosts: Any = last
    resources = run_resources.RunResources("run", local_facts(tmp_path), runtimes, hosts=hosts)
    with pytest.raises(ValueError, match="no JSON") as caught:
        resources.close()
    assert (first.closed, left.closed, last.closed) == (True, True, True)
    assert len(caught.value.__notes__) == 2


def test_a_run_says_that_neighbours_can_reach_its_containers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, script in (("iptables", "echo 'no table raw' >&2; exit 3"), ("ip", "exit 0")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    client = {"runtime": "docker", "network": "bridge"}
    setups = [Setup.model_validate({"client": client})]
    said: list[str] = []
    runtime = run_resources.runtimes_for("run", tmp_path, setups, said.append)["native"]
    runtime.site("n1", role="database", network="host", storage="directory", group="g")
    (words,) = said
    assert words.startswith(EXPOSED)
    assert "no table raw" in words
    runtime.close()


def test_each_group_of_hosts_that_a_study_names_has_its_own_runtimes_beside_the_clients(
    tmp_path: Path,
) -> None:
    named = (Host("m1", "192.0.2.1", groups=frozenset({"metal"})),
             Host("v1", "192.0.2.2", groups=frozenset({"vmware"})))  # fmt: skip
    hosts = Hosts(Inventory(tmp_path / "hosts", named), "run")
    hosts.use(["metal", "vmware"], clients=True)
    made = run_resources.runtimes_for("run", tmp_path, [Setup()], lambda _: None, hosts)
    over_ssh = {name for name in made if name.startswith("ssh-")}
    assert over_ssh == {
        f"ssh-{runtime}{of}" for runtime in ("native", "docker") for of in ("", "@metal", "@vmware")
    }


class Brought(Declaration):
    """A runtime of another package, which checks for its engine when it gets ready."""

    name = "brought"
    on_hosts = True

    def make(self, *_: Any, **__: Any) -> Any:
        return object()

    make_on_hosts = make


def test_of_other_packages_only_what_a_condition_names_has_to_get_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_resources, "registered", lambda: {**registered(), "brought": Brought()})
    hosts = Hosts(Inventory(tmp_path / "hosts", (Host("h1", "192.0.2.1"),)), "run")
    hosts.use([""], clients=False)
    made = run_resources.runtimes_for("run", tmp_path, [Setup()], lambda _: None, hosts)
    assert set(made) == {"native", "docker", "ssh-native", "ssh-docker"}


@dataclass
class Scripted:
    """A runtime with images, or without."""

    own: Images | None

    def images(self) -> Images | None:
        return self.own

    def environment(self) -> dict[str, Any]:
        return {"version": "1.0"} if self.own else {}


def bring(image: str, say: Callable[[str], None]) -> str:
    return f"{image} for units"


def fetch(name: str, image: str, say: Callable[[str], None]) -> str:
    return f"{name} for units"


def resources(tmp_path: Path, images: Images | None) -> run_resources.RunResources:
    runtimes: Any = {"docker": Scripted(images)}
    return run_resources.RunResources("run", local_facts(tmp_path), runtimes)


@pytest.mark.parametrize(
    ("images", "command", "image"),
    [
        (None, "{}/tare-load", ""),
        (Images("engine", bring, fetch), LOAD, "load by engine"),
        (Images("engine", bring, fetch, clients_by_engine=False), LOAD, "load by engine for units"),
    ],
    ids=["in place", "in the engine", "where units run"],
)
def test_a_client_is_of_files_in_place_or_of_an_image_where_it_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    images: Images | None,
    command: str,
    image: str,
) -> None:
    (tmp_path / "tare-load").write_bytes(b"program")
    monkeypatch.setattr(run_resources, "find", lambda name: tmp_path / name)
    monkeypatch.setattr(
        run_resources.image, "build_program_image", lambda engine, name, *_: f"{name} by {engine}"
    )
    made = run_resources._client(resources(tmp_path, images), "docker", lambda _: None)
    assert made.binary == command.format(tmp_path)
    assert made.bits.image == image


def test_an_image_that_a_study_names_is_fetched_to_where_units_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_resources.image, "named_image", lambda *_: ("sha", "digest"))
    database = Setup.model_validate(
        {"database": {"kind": "mongodb", "version": "7.0.14", "image": "mongo:7"}}
    ).database
    own = resources(tmp_path, Images("engine", bring, fetch))
    made = run_resources._server(own, database, "docker", lambda _: None)
    assert made.bits == Bits("digest", "mongo:7 for units", named="mongo:7")


def test_records_have_what_ran_units_where_there_is_something_to_tell(tmp_path: Path) -> None:
    assert resources(tmp_path, Images("engine")).environment()["docker"] == {"version": "1.0"}
    assert "docker" not in resources(tmp_path, None).environment()
