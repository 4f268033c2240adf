"""Tools are fetched by their own registries' clients, which are scripts here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tare.artifacts.tools import TOOL_NAMES, VERSIONS, fetch_tool
from tare.artifacts.tools import fetch as fetching
from tare.errors import ArtifactError, RuntimeUnavailableError
from tests.archives import member, tar_of


def program(directory: Path, name: str, body: str) -> None:
    directory.mkdir(exist_ok=True)
    file = directory / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory of programs, in front of the machine's own."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return programs


def test_every_tool_has_a_pinned_version() -> None:
    assert set(VERSIONS) == set(TOOL_NAMES)


def test_latte_is_installed_by_cargo_in_its_pinned_version(path: Path, tmp_path: Path) -> None:
    install = 'mkdir -p "$6/bin" && echo "$*" > "$6/bin/latte"'
    program(path, "cargo", install)
    tool = fetch_tool("latte", tmp_path / "cache")
    assert tool.command == (str(tool.root / "bin" / "latte"),)
    said = (tool.root / "bin" / "latte").read_text()
    assert said.startswith("install latte-cli --version 0.29.0 --root ")


def test_a_failed_installation_says_what_cargo_said(path: Path, tmp_path: Path) -> None:
    program(path, "cargo", "echo error: no such crate; exit 101")
    with pytest.raises(ArtifactError) as caught:
        fetch_tool("latte", tmp_path / "cache")
    assert "no such crate" in caught.value.why


def test_a_missing_client_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    for name, missing in (("latte", "cargo"), ("ycsb", "javac"), ("cassandra-stress", "java")):
        with pytest.raises(RuntimeUnavailableError, match=missing):
            fetch_tool(name, tmp_path / "cache")  # type: ignore[arg-type]  # literals


def test_cassandra_stress_may_open_what_java_17_keeps_shut(path: Path, tmp_path: Path) -> None:
    program(path, "java", "")
    command = fetching._command("cassandra-stress", tmp_path)
    for package in ("java.io", "sun.nio.ch"):
        opened = f"--add-opens=java.base/{package}=ALL-UNNAMED"
        assert command.index(opened) < command.index("-cp")


def tarball(file: Path, members: dict[str, str]) -> None:
    own = (member(name, text.encode()) for name, text in members.items())
    file.write_bytes(tar_of(*own, mode="w:gz"))


def test_of_cassandras_tarball_only_what_the_tool_needs_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "apache-cassandra.tar.gz"
    tarball(
        file,
        {
            "apache-cassandra/lib/guava.jar": "g",
            "apache-cassandra/lib/licenses/guava.txt": "l",
            "apache-cassandra/tools/lib/stress.jar": "s",
            "apache-cassandra/conf/logback-tools.xml": "x",
            "apache-cassandra/bin/cassandra": "b",
            "apache-cassandra/../../outside/lib/evil.jar": "e",
        },
    )
    root = tmp_path / "root"
    root.mkdir()
    fetching._unpack(file, root)
    kept = sorted(one.relative_to(root).as_posix() for one in root.rglob("*") if one.is_file())
    assert kept == ["conf/logback-tools.xml", "lib/guava.jar", "tools/stress.jar"]


def test_a_tarball_without_the_tool_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.tar.gz"
    tarball(file, {"other/lib/x.jar": "x"})
    with pytest.raises(ArtifactError, match="no cassandra-stress"):
        fetching._unpack(file, tmp_path)
    file.write_text("not a tarball")
    with pytest.raises(ArtifactError, match="damaged"):
        fetching._unpack(file, tmp_path)
