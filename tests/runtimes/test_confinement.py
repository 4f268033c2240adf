"""A container gets only the rights that its unit needs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tare.runtimes import confinement
from tare.runtimes.confinement import OWN_USER
from tare.runtimes.unit import Bits, Role, Site, Unit
from tare.study.platform import Limits


def unit(tmp_path: Path, role: Role = "database", storage: str = "directory") -> Unit:
    conf, data = tmp_path / "conf", tmp_path / "data"
    for directory in (conf, data):
        directory.mkdir(mode=0o700, exist_ok=True)
    (conf / "node.yaml").write_text("a: 1", encoding="ascii")
    (conf / "node.yaml").chmod(0o600)
    (data / "rows").write_bytes(b"rows")
    on_host = data if storage == "directory" else None
    site = Site("n1", "/c", conf, "/d", on_host, "1.2.3.4", "1.2.3.4", "1.2.3.4", "a bridge")
    return Unit(site, role, ["java"], {}, Limits(), Bits(""), storage)


@pytest.mark.parametrize("storage", ["directory", "volume"])
def test_the_root_file_system_is_read_only_where_data_lies_elsewhere(
    tmp_path: Path, storage: str
) -> None:
    told: dict[str, Any] = confinement.settings(unit(tmp_path, storage=storage))
    assert told["read_only"]
    (scratch,) = told["tmpfs"].values()
    assert "exec" in scratch, "Java loads the libraries that it unpacks there"
    assert told["cap_drop"] == ["ALL"]
    assert told["security_opt"] == ["no-new-privileges"]


def test_a_layer_that_holds_the_data_can_be_written(tmp_path: Path) -> None:
    told = confinement.settings(unit(tmp_path, storage="layer"))
    assert "read_only" not in told
    assert told["cap_drop"] == ["ALL"]


def test_a_database_of_an_ordinary_user_runs_as_that_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(os, "getgid", lambda: 100)
    assert confinement.identity(unit(tmp_path)) == "1000:100"


def test_a_database_of_root_runs_as_nobody_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert confinement.identity(unit(tmp_path)) == f"{OWN_USER}:{OWN_USER}"


def test_a_client_is_the_user_whose_directory_it_writes_to(tmp_path: Path) -> None:
    assert confinement.identity(unit(tmp_path, "client")) == f"{os.getuid()}:{os.getgid()}"


@pytest.mark.skipif(os.geteuid() != 0, reason="chown needs root; `sudo make test` runs it")
def test_a_database_may_read_its_configuration_and_owns_its_data(tmp_path: Path) -> None:
    confinement.hand_over(unit(tmp_path))
    assert (tmp_path / "conf/node.yaml").stat().st_mode & 0o444 == 0o444
    assert (tmp_path / "conf").stat().st_mode & 0o555 == 0o555
    assert {(tmp_path / name).stat().st_uid for name in ("data", "data/rows")} == {OWN_USER}
    assert (tmp_path / "conf/node.yaml").stat().st_uid == 0
