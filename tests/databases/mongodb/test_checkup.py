"""What is told of a mongod that somebody has, before a study is made with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.databases.mongodb import checkup
from tare.databases.mongodb.checkup import Checked, check_home, check_started, how_to_get_one
from tare.errors import ClusterError

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


def by_name(found: Iterator[Checked]) -> dict[str, Checked]:
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


def started(build: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Checked]:
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
        ({"version": "4.0.3"}, "AGPL-3.0"),
    ],
)
def test_a_server_that_answers_is_told_with_its_release_and_licence(
    build: dict[str, Any], licence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = started(build, monkeypatch)
    assert found["start"].ok
    assert found["release"].says == f"MongoDB {build['version']}"
    assert found["release"].ok == (build["version"] != "4.0.3")
    assert licence in found["licence"].says


def test_a_server_that_says_itself_that_it_is_another_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = started({"version": "7.0.42", "ferretdbVersion": "v1.24.0"}, monkeypatch)
    assert not found["release"].ok
    assert "FerretDB v1.24.0" in found["release"].says
    assert "licence" not in found
