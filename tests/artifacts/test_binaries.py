"""Tare's programs are looked for where an installation or a build puts them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tare.artifacts import binaries
from tare.artifacts.binaries import find
from tare.errors import RuntimeUnavailableError

if TYPE_CHECKING:
    from pathlib import Path


def program(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "tare-load"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python, a checkout and a PATH of the test's own, all without the programs."""
    monkeypatch.delenv("TARE_BIN_DIR", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "bin" / "python"))
    module = tmp_path / "checkout" / "src" / "tare" / "artifacts" / "binaries.py"
    monkeypatch.setattr(binaries, "__file__", str(module))
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / "Cargo.toml").write_text("[workspace]\n")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))


def test_the_nearest_one_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = program(tmp_path / "path")
    assert find("tare-load") == on_path

    built = program(tmp_path / "checkout" / "target" / "release")
    assert find("tare-load") == built

    installed = program(tmp_path / "venv" / "bin")
    assert find("tare-load") == installed

    named = program(tmp_path / "named")
    monkeypatch.setenv("TARE_BIN_DIR", str(tmp_path / "named"))
    assert find("tare-load") == named


def test_a_named_directory_without_it_is_an_error_not_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "venv" / "bin")
    monkeypatch.setenv("TARE_BIN_DIR", str(tmp_path / "nothing"))

    with pytest.raises(RuntimeUnavailableError, match="nothing"):
        find("tare-load")


def test_a_file_that_cannot_be_executed_does_not_count(tmp_path: Path) -> None:
    program(tmp_path / "venv" / "bin").chmod(0o644)

    with pytest.raises(RuntimeUnavailableError) as caught:
        find("tare-load")
    assert "make setup" in caught.value.remedy
