"""The checks of a user's mongod before a study uses it."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import docker
import pytest

from tare import starter
from tare.databases.mongodb import checkup
from tare.databases.mongodb.checkup import check_home, check_started, how_to_get_one
from tare.databases.mongodb.session import RefusedError
from tare.doctor_check import DoctorCheck
from tare.errors import ClusterError
from tests.databases.mongodb.scripted import COMMIT

DEBIAN = {"ID": "debian", "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)"}
MINT = {"ID": "linuxmint", "ID_LIKE": "ubuntu debian", "PRETTY_NAME": "Linux Mint 22"}


@pytest.mark.parametrize(
    ("system", "way"),
    [
        (DEBIAN, "apt-get install mongodb-org"),
        (MINT, "apt-get install mongodb-org"),
        ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "dnf install mongodb-org"),
        ({}, "unpack a release for aarch64"),
    ],
)
def test_without_a_mongod_the_system_s_own_way_to_one_is_told(
    system: dict[str, str], way: str
) -> None:
    told = how_to_get_one(system, "aarch64")
    assert not told.ok
    assert told.remedy.startswith(way)
    assert "docker pull mongo:7.0" in told.remedy
    assert "--home DIRECTORY or --image NAME" in told.remedy


def mongod(where: Path, release: str, otherwise: str = "exit 14") -> Path:
    made = where / "mongod"
    version = f"echo 'db version v{release}'; exit"
    made.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ {version}; }}\n{otherwise}\n')
    made.chmod(0o755)
    return where


def by_name(found: Iterator[DoctorCheck]) -> dict[str, DoctorCheck]:
    return {one.what: one for one in found}


def test_a_cpu_without_what_a_release_needs_is_told_before_it_is_started(tmp_path: Path) -> None:
    home = mongod(tmp_path, "7.0.14")
    found = by_name(check_home(home, "x86_64", {"sse4_2"}))
    assert list(found) == ["mongod", "CPU"]
    assert found["CPU"].says == "MongoDB 7.0.14 needs AVX: it has not"
    assert "before 5.0" in found["CPU"].remedy
    (arm,) = [one for one in check_home(home, "aarch64", {"fp"}) if one.what == "CPU"]
    assert "ARMv8.2-A" in arm.says


def test_a_mongod_that_ends_is_told_with_its_last_words(tmp_path: Path) -> None:
    home = mongod(tmp_path, "4.4.29", "echo 'no room'; exit 14")
    found = by_name(check_home(home, "x86_64", ()))
    assert found["CPU"].ok, "releases before 5.0 need nothing particular"
    assert not found["start"].ok
    assert "it ended before it answered: exit status 14: no room" in found["start"].says


@pytest.mark.parametrize("status", [132, -4])
def test_an_instruction_that_the_cpu_lacks_is_called_so(status: int) -> None:
    with pytest.raises(ClusterError) as raised:
        checkup._first_answer(("127.0.0.1", 1), lambda: checkup._ended(status, ""))
    assert "this CPU lacks an instruction" in raised.value.why


@pytest.mark.parametrize("name", ["ferretdb", "tare-stub"])
def test_what_is_no_mongod_is_not_started(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"other server")
    (found,) = check_home(tmp_path / name, "x86_64", ())
    assert not found.ok
    assert "not MongoDB" in found.says


def started(build: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, DoctorCheck]:
    @contextmanager
    def session(*_place: object, timeout_s: float) -> Iterator[Any]:
        assert timeout_s <= checkup.PATIENCE_S
        yield SimpleNamespace(command=lambda document: build)

    @contextmanager
    def runs() -> Iterator[Any]:
        yield ("127.0.0.1", 27017), lambda: ""

    monkeypatch.setattr(checkup, "connect", session)
    return by_name(check_started(runs()))


@pytest.mark.parametrize(
    ("build", "licence"),
    [
        ({"version": "7.0.14", "modules": []}, "SSPL-1.0"),
        ({"version": "7.0.14", "modules": ["enterprise"]}, "contract with MongoDB"),
        ({"version": "3.4.24"}, "AGPL-3.0"),
    ],
)
def test_a_server_that_answers_is_told_with_its_release_and_licence(
    build: dict[str, Any], licence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = started(build | {"gitVersion": COMMIT}, monkeypatch)
    assert found["start"].ok
    assert found["release"].says == f"MongoDB {build['version']}"
    assert found["release"].ok == (build["version"] != "3.4.24")
    assert licence in found["licence"].says


def test_a_server_that_says_itself_that_it_is_another_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = started({"version": "7.0.42", "ferretdbVersion": "v1.24.0"}, monkeypatch)
    assert not found["release"].ok
    assert "FerretDB v1.24.0" in found["release"].says
    assert "licence" not in found


def test_the_time_to_its_answer_is_without_that_of_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: float(next(passed)))
    monkeypatch.setattr(checkup, "time", clock)

    @contextmanager
    def slow_to_end() -> Iterator[Any]:
        yield ("127.0.0.1", 27017), lambda: ""
        for _ in range(50):
            next(passed)

    monkeypatch.setattr(checkup, "connect", answers)
    found = by_name(check_started(slow_to_end()))
    assert found["start"].says == "it answers 3.0 s after its start"


@contextmanager
def answers(*_place: object, timeout_s: float) -> Iterator[Any]:
    """A server of version 4.4.1, which lacks `hello`: the command came with 4.4.2."""

    def command(document: dict[str, Any]) -> dict[str, Any]:
        if "hello" in document:
            raise RefusedError("hello failed", where="", why="no such command: 'hello'", code=59)
        return {"version": "4.4.1", "gitVersion": COMMIT}

    yield SimpleNamespace(command=command)


def test_a_release_without_hello_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "connect", answers)
    monkeypatch.setattr(checkup, "PATIENCE_S", 0.3)
    found = by_name(check_started(nullcontext((("127.0.0.1", 27017), lambda: ""))))
    assert found["release"].says == "MongoDB 4.4.1"


def test_of_older_series_the_day_of_the_release_decides_its_licence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """3.6.9 was released after 4.0.3, and is under the SSPL."""
    told = started({"version": "3.6.23", "gitVersion": COMMIT}, monkeypatch)["licence"].says
    assert told == "AGPL-3.0, or SSPL-1.0 if it was released after 16 October 2018"


def test_a_mongod_and_its_data_are_found_by_clean_should_the_doctor_be_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen: dict[str, Any] = {}

    def start(words: list[str], **how: Any) -> Any:
        seen.update(how, where=Path(words[words.index("--dbpath") + 1]))
        return SimpleNamespace(poll=lambda: 14, terminate=lambda: None, wait=lambda _: None)

    monkeypatch.setattr("tare.databases.mongodb.checkup.subprocess.Popen", start)
    by_name(check_started(checkup._program("mongod")))
    assert seen["env"][starter.RUN_VARIABLE] == "doctor"
    assert seen["env"][starter.STARTER_VARIABLE] == starter.mark()
    assert seen["where"].name.startswith(f"tare-doctor@{starter.mark()}.")
    assert not seen["where"].exists()


class Container:
    """A container of a scripted engine."""

    def __init__(
        self, address: str, *, starts: bool = True, gone: bool = False, ends: int | None = None
    ) -> None:
        self._starts, self._gone = starts, gone
        self.removed = False
        self.attrs: dict[str, Any] = {
            "State": {"Running": ends is None, "ExitCode": ends or 0},
            "NetworkSettings": {"Networks": {"bridge": {"IPAddress": address}}},
        }

    def start(self) -> None:
        if not self._starts:
            raise docker.errors.APIError("exec: mongod: executable file not found")

    def reload(self) -> None:
        if self._gone:
            raise docker.errors.NotFound("no such container")

    def logs(self, tail: int) -> bytes:
        assert tail <= 100, "it may have said gigabytes"
        assert not self.attrs["State"]["Running"], "nobody asks for its last words before"
        return b"first\nno such user\n"

    def remove(self, **how: bool) -> None:
        assert how == {"force": True, "v": True}
        self.removed = True


@pytest.mark.parametrize(
    ("container", "why"),
    [
        (Container("172.17.0.2", starts=False), "executable file not found"),
        (Container("172.17.0.2", gone=True), "no such container"),
        (Container(""), "Docker gives it none"),
        (Container("", ends=1), "exit status 1: no such user"),
    ],
    ids=["without a mongod", "somebody removes it", "without a network", "ended"],
)
def test_of_an_image_that_does_not_run_the_reason_is_told_and_nothing_is_left(
    container: Container, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container without an address is refused: a mongod of this machine would answer instead."""
    monkeypatch.setattr(checkup, "connect", answers)
    containers = SimpleNamespace(create=lambda *_, **__: container)
    starting = checkup.image(SimpleNamespace(containers=containers), "sha256:1", {})
    (found,) = check_started(starting)
    assert not found.ok
    assert why in found.says
    assert container.removed


def test_of_a_server_that_does_not_answer_no_run_s_logs_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkup, "PATIENCE_S", 0.0)
    (silent,) = check_started(nullcontext((("127.0.0.1", 1), lambda: "")))
    monkeypatch.setattr(checkup, "PATIENCE_S", 1.0)
    (ended,) = check_started(nullcontext((("127.0.0.1", 1), lambda: "exit status 14: no room")))
    assert (silent.remedy, ended.remedy) == (checkup._BY_HAND, checkup._BY_HAND)
