"""A fetched tool is complete or absent, and an altered one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.artifacts.tools.cache import kept
from tare.errors import ArtifactError


def fill(directory: Path) -> None:
    (directory / "lib").mkdir()
    (directory / "lib" / "tool.jar").write_text("bits")


def test_it_is_fetched_once(tmp_path: Path) -> None:
    calls: list[Path] = []

    def fetch(directory: Path) -> None:
        calls.append(directory)
        fill(directory)

    root, digest = kept("tool-1", tmp_path, fetch)
    assert (root / "lib" / "tool.jar").read_text() == "bits"
    assert kept("tool-1", tmp_path, fetch) == (root, digest)
    assert len(calls) == 1


def test_the_same_files_have_the_same_digest(tmp_path: Path) -> None:
    assert kept("a", tmp_path / "x", fill)[1] == kept("b", tmp_path / "y", fill)[1]


def test_a_fetch_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fails(directory: Path) -> None:
        fill(directory)
        raise ArtifactError("no network")

    with pytest.raises(ArtifactError, match="no network"):
        kept("tool-1", tmp_path, fails)
    assert not (tmp_path / "tools" / "tool-1").exists()
    assert kept("tool-1", tmp_path, fill)


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "tools" / ".tool-1.partial"
    left.mkdir(parents=True)
    (left / "half").write_text("x")
    root, _ = kept("tool-1", tmp_path, fill)
    assert not (root / "half").exists()


def test_an_altered_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    root, _ = kept("tool-1", tmp_path, fill)
    (root / "lib" / "tool.jar").write_text("other")
    with pytest.raises(ArtifactError, match="altered") as caught:
        kept("tool-1", tmp_path, fill)
    assert f"rm -r {root}" in caught.value.remedy


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "tools").write_text("a file")
    with pytest.raises(ArtifactError, match="cannot be written"):
        kept("tool-1", tmp_path, fill)
