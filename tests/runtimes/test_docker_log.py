"""A server's log is read from its container without holding the whole log in memory."""

from __future__ import annotations

import io
import tarfile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tare.runtimes import kept_log
from tare.runtimes.docker import DockerRunning
from tare.runtimes.kept_log import keep_end_of_archived

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def archived(content: bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo("system.log")
        member.type, member.linkname = kind, "/etc/shadow" if kind == tarfile.SYMTYPE else ""
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def pieces(archive: bytes, size: int = 700) -> Iterator[bytes]:
    for begin in range(0, len(archive), size):
        yield archive[begin : begin + size]


class Container:
    """A container with one file."""

    def __init__(self, archive: bytes) -> None:
        self.archive = archive

    def logs(self, **_: Any) -> bytes:
        return b"on its terminal"

    def get_archive(self, path: str) -> tuple[Iterator[bytes], dict[str, Any]]:
        assert path == "/var/lib/cassandra/log/system.log"
        return pieces(self.archive), {}


def collected(container: Container, into: Path) -> dict[str, bytes]:
    site = SimpleNamespace(name="n1")
    unit: Any = SimpleNamespace(
        site=site, role="database", log="log/system.log", log_copy="n1-system.log"
    )
    engine: Any = None
    DockerRunning(unit, container, engine).collect_logs(into)
    return {file.name: file.read_bytes() for file in into.iterdir()}


def test_a_log_that_is_no_longer_than_is_kept_comes_whole(tmp_path: Path) -> None:
    assert collected(Container(archived(b"started, died")), tmp_path) == {
        "n1-stderr.log": b"on its terminal",
        "n1-system.log": b"started, died",
    }


def test_of_a_longer_log_its_end_is_kept_and_what_was_cut_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_log, "LONGEST", 4)
    monkeypatch.setattr(kept_log, "_BUFFER", 1024)
    found = collected(Container(archived(b"x" * 5000 + b"died")), tmp_path)
    assert found["n1-system.log"] == (
        b"[Tare: the first 5,000 bytes of this log were not kept]\ndied"
    )


def test_a_log_that_does_not_come_in_time_is_given_up_which_is_said(tmp_path: Path) -> None:
    seconds = iter(range(0, 10_000, 25))
    taken: list[bytes] = []

    def slow() -> Iterator[bytes]:
        for piece in pieces(archived(b"x" * 10_000)):
            taken.append(piece)
            yield piece

    keep_end_of_archived(slow(), tmp_path / "log", clock=lambda: next(seconds))
    assert len(taken) == 3
    assert "did not send it within 60 s" in (tmp_path / "log").read_text(encoding="utf-8")


def test_a_link_in_the_place_of_a_log_is_not_followed(tmp_path: Path) -> None:
    found = collected(Container(archived(b"", tarfile.SYMTYPE)), tmp_path)
    assert list(found) == ["n1-stderr.log"]
