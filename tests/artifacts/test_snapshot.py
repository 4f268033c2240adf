"""Snapshots of data directories: whole or not at all, copied exactly, never through a link."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from tare.artifacts.snapshot import Snapshot, find, keep
from tare.errors import ArtifactError

PARTS = ("data", "hints")


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A stopped node's data directory."""
    directory = tmp_path / "node"
    (directory / "data" / "ycsb").mkdir(parents=True)
    (directory / "data" / "ycsb" / "nb-1-big-Data.db").write_bytes(b"rows")
    (directory / "hints").mkdir()
    (directory / "log").mkdir()
    (directory / "log" / "system.log").write_text("not kept")
    return directory


def test_what_was_kept_is_found_again_and_fills_an_empty_directory(
    tmp_path: Path, node: Path
) -> None:
    kept = keep(tmp_path / "cache", "k", node, PARTS)
    assert find(tmp_path / "cache", "k") == kept
    target = tmp_path / "new"
    target.mkdir()
    kept.fill(target)
    assert (target / "data/ycsb/nb-1-big-Data.db").read_bytes() == b"rows"
    assert sorted(one.name for one in target.iterdir()) == ["data", "hints"]


def test_an_archive_is_of_root_and_below_the_directory_named(tmp_path: Path, node: Path) -> None:
    kept = keep(tmp_path / "cache", "k", node, PARTS)
    with tarfile.open(fileobj=io.BytesIO(kept.archive("var/lib/x/"))) as archive:
        entries = {one.name: one for one in archive}
    assert "var/lib/x/data/ycsb/nb-1-big-Data.db" in entries
    assert {(one.uid, one.gid) for one in entries.values()} == {(0, 0)}


def test_a_directory_that_holds_something_already_is_refused(tmp_path: Path, node: Path) -> None:
    kept = keep(tmp_path / "cache", "k", node, PARTS)
    with pytest.raises(ArtifactError, match="not empty"):
        kept.fill(node)


def test_a_copy_that_differs_is_refused(tmp_path: Path, node: Path) -> None:
    kept = keep(tmp_path / "cache", "k", node, PARTS)
    other = Snapshot(kept.root, "0" * 64)
    target = tmp_path / "new"
    target.mkdir()
    with pytest.raises(ArtifactError, match="differs from its snapshot"):
        other.fill(target)


@pytest.mark.parametrize("damage", ["changed", "missing", "added", "link", "no listing"])
def test_a_damaged_snapshot_is_none_and_is_removed(tmp_path: Path, node: Path, damage: str) -> None:
    root = keep(tmp_path / "cache", "k", node, PARTS).root
    file = root / "data/ycsb/nb-1-big-Data.db"
    if damage == "changed":
        file.write_bytes(b"other")
    elif damage == "missing":
        file.unlink()
    elif damage == "added":
        (root / "data" / "more").write_text("x")
    elif damage == "link":
        file.unlink()
        file.symlink_to(node / "data/ycsb/nb-1-big-Data.db")
    else:
        (root / "SHA256SUMS").unlink()
    assert find(tmp_path / "cache", "k") is None
    assert not root.exists()


def test_a_cache_entry_that_is_a_link_is_not_followed(tmp_path: Path, node: Path) -> None:
    keep(tmp_path / "elsewhere", "k", node, PARTS)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/k").symlink_to(tmp_path / "elsewhere/k")
    assert find(tmp_path / "cache", "k") is None
    assert (tmp_path / "elsewhere/k/SHA256SUMS").exists()


def test_a_node_without_data_leaves_no_snapshot(tmp_path: Path) -> None:
    (tmp_path / "node").mkdir()
    with pytest.raises(ArtifactError, match="no data"):
        keep(tmp_path / "cache", "k", tmp_path / "node", PARTS)
    assert list((tmp_path / "cache").iterdir()) == []
