"""Hosts get a MongoDB server as the program itself, or as an image built from it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest

from tare.artifacts import image
from tare.databases.mongodb import bits
from tare.databases.mongodb.installation import Installation
from tare.errors import RuntimeUnavailableError, StudyError
from tare.lab import run_resources
from tare.lab.run_resources import RunResources
from tare.machines.facts import local_facts
from tare.runtimes.unit import Bits
from tare.study.schema import Setup

SERVER = Installation("/opt/mongodb/bin/mongod", Bits("digest"))


class Host:
    """A host that runs commands with a set exit status, and builds images."""

    def __init__(self, name: str, status: int = 0, release: str = "7.0.14") -> None:
        self.name = self.host = name
        self.files = PurePosixPath("/srv/files")
        self.asked: list[tuple[str, ...]] = []
        self._status, self._release = status, release
        self.connection: Any = SimpleNamespace(run=self._run)

    def _run(self, *words: object) -> Any:
        self.asked.append(tuple(map(str, words)))
        told = f"db version v{self._release}\n"
        return SimpleNamespace(status=self._status, why="libcurl.so.4 is missing", text=told)

    def engine(self) -> Any:
        tagged = SimpleNamespace(tags=["tare/mongod:abc"])
        return SimpleNamespace(images=SimpleNamespace(get=lambda identity: tagged))


@pytest.fixture(autouse=True)
def brought(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []

    def bring(connection: object, files: Any, below: PurePosixPath, *_: object) -> PurePosixPath:
        found.extend(files)
        return below / "1234"

    monkeypatch.setattr(bits, "transfer", bring)
    monkeypatch.setattr(image, "build_program_image", lambda *_: "sha256:1")
    return found


def given(runtime: str, *hosts: Host) -> Installation:
    among: Any = SimpleNamespace(nodes_of=lambda group: list(hosts))
    return bits.on_hosts(among, SERVER, "7.0", runtime, lambda line: None)


def test_processes_run_the_program_that_every_host_was_brought(
    brought: list[tuple[str, Path]],
) -> None:
    hosts = Host("a"), Host("b")
    made = given("ssh-native", *hosts)
    assert made.program == "/srv/files/1234/mongod"
    assert made.bits == SERVER.bits
    assert brought == [("mongod", Path(SERVER.program))] * 2
    assert all(one.asked == [(made.program, "--version")] for one in hosts)


def test_a_host_on_which_it_does_not_run_is_named_with_the_reason() -> None:
    with pytest.raises(RuntimeUnavailableError) as raised:
        given("ssh-native", Host("a"), Host("b", status=127))
    assert (raised.value.where, raised.value.why) == ("b", "libcurl.so.4 is missing")
    assert "libraries" in raised.value.remedy


def test_a_program_of_another_release_than_the_study_s_is_refused() -> None:
    with pytest.raises(StudyError, match=r"MongoDB 6\.0\.5, and not 7\.0"):
        given("ssh-native", Host("a", release="6.0.5"))


def test_a_server_of_hosts_is_not_asked_on_a_machine_that_may_not_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mongod").write_bytes(b"of another processor")
    among: Any = SimpleNamespace(nodes_of=lambda group: [Host("a")])
    images: Any = {"ssh-native": SimpleNamespace(images=lambda: None)}
    resources = RunResources("run", local_facts(tmp_path), images, hosts=among)
    database = Setup.model_validate(
        {"database": {"kind": "mongodb", "version": "7.0", "home": str(tmp_path)}}
    ).database
    made: Any = run_resources._server(resources, database, "ssh-native", lambda _: None)
    assert made.program == "/srv/files/1234/mongod"


def test_containers_run_an_image_that_each_host_makes_of_it() -> None:
    made = given("ssh-docker", Host("a"), Host("b"))
    assert (made.program, made.bits.image) == (image.MONGOD, "tare/mongod:abc")
    assert made.bits.digest == SERVER.bits.digest
