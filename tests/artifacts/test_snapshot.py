"""Snapshots of data directories: whole or not at all, copied exactly, never through a link."""

from __future__ import annotations

import io
import os
import tarfile
import threading
from pathlib import Path

import pytest

from tare.artifacts import snapshot
from tare.artifacts.cache_entry import only_maker
from tare.artifacts.digest import listing, tree_digests
from tare.artifacts.snapshot import NodeSnapshot, find, keep
from tare.errors import ArtifactError

PARTS = ("data", "hints")
ROWS = "data/ycsb/nb-1-big-Data.db"


def node_directory(directory: Path, rows: bytes) -> Path:
    """A stopped node's data directory."""
    (directory / ROWS).parent.mkdir(parents=True)
    (directory / ROWS).write_bytes(rows)
    (directory / "data/system/peers_v2-0a1b").mkdir(parents=True)
    (directory / "data/system/peers_v2-0a1b/nb-1-big-Data.db").write_bytes(b"127.0.0.2")
    (directory / "hints").mkdir()
    (directory / "log").mkdir()
    (directory / "log" / "system.log").write_text("not kept")
    return directory


@pytest.fixture
def node(tmp_path: Path) -> Path:
    return node_directory(tmp_path / "node", b"rows")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def kept(cache: Path, node: Path) -> NodeSnapshot:
    return keep(cache, "k", [node], PARTS, ["peers_v2-*"]).nodes[0]


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A new deployment's data directory."""
    (tmp_path / "new" / "tmp").mkdir(parents=True)
    return tmp_path / "new"


def test_what_was_kept_is_found_again_and_fills_an_empty_directory(
    cache: Path, kept: NodeSnapshot, empty: Path
) -> None:
    found = find(cache, "k")
    assert found is not None
    assert found.key == "k"
    assert found.nodes == (kept,)
    kept.fill(empty)
    assert tree_digests(empty) == tree_digests(kept.root)
    assert (empty / ROWS).read_bytes() == b"rows"
    assert sorted(one.name for one in empty.iterdir()) == ["data", "hints", "tmp"]


def test_what_a_deployment_writes_is_not_handed_on(
    kept: NodeSnapshot, cache: Path, tmp_path: Path
) -> None:
    for life in ("first", "second"):
        directory = tmp_path / life
        kept.fill(directory)
        assert (directory / ROWS).read_bytes() == b"rows"
        with (directory / ROWS).open("r+b") as file:
            file.write(b"mine")
        (directory / "data/ycsb/nb-2-big-Data.db").write_bytes(b"more")
    found = find(cache, "k")
    assert found is not None
    assert found.nodes[0].digest == kept.digest


def test_what_a_node_knew_of_others_is_left_out(kept: NodeSnapshot) -> None:
    assert list(tree_digests(kept.root)) == [ROWS]


def test_files_are_kept_by_their_names_alone(node: Path, cache: Path, empty: Path) -> None:
    for name in ("ycsb.sqlite", "state.json"):
        (node / name).write_text(name)
    kept = keep(cache, "k", [node], ["*.sqlite"]).nodes[0]
    kept.fill(empty)
    assert list(tree_digests(empty)) == ["ycsb.sqlite"]


def test_each_node_of_a_cluster_has_a_directory_of_its_own(tmp_path: Path, cache: Path) -> None:
    nodes = [node_directory(tmp_path / f"n{i}", b"rows of %d" % i) for i in range(12)]
    made = keep(cache, "k", nodes, PARTS)
    assert find(cache, "k") == made
    assert [(one.root / ROWS).read_bytes() for one in made.nodes] == [
        b"rows of %d" % i for i in range(12)
    ]
    assert len({one.digest for one in made.nodes}) == 12


@pytest.mark.parametrize("left", ["commitlog/CommitLog-7-1.log", "data/ycsb/more", "tmp/a"])
def test_a_directory_that_holds_a_file_already_is_refused(
    kept: NodeSnapshot, empty: Path, left: str
) -> None:
    (empty / left).parent.mkdir(parents=True, exist_ok=True)
    (empty / left).write_text("of another life")
    with pytest.raises(ArtifactError, match="not empty") as refused:
        kept.fill(empty)
    assert refused.value.where.endswith(left)


def test_its_files_and_directories_are_told_parents_first(kept: NodeSnapshot) -> None:
    assert kept.files() == [(ROWS, kept.root / ROWS)]
    assert kept.folders() == ["data", "data/system", "data/ycsb", "hints"]


def test_a_link_in_the_directory_is_refused(kept: NodeSnapshot, empty: Path, node: Path) -> None:
    (empty / "data").symlink_to(node / "data")
    with pytest.raises(ArtifactError, match="not empty"):
        kept.fill(empty)


def test_a_copy_that_differs_is_refused_by_its_name(kept: NodeSnapshot, empty: Path) -> None:
    (kept.root / ROWS).write_bytes(b"changed since it was found")
    with pytest.raises(ArtifactError, match="differs from its snapshot"):
        kept.fill(empty)


def archived(kept: NodeSnapshot, within: str) -> io.BytesIO:
    """An archive of its directory as an engine gives one: below the directory's own name."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as into:
        into.add(kept.root, within)
    archive.seek(0)
    return archive


def test_an_archive_belongs_to_the_user_who_was_named(kept: NodeSnapshot) -> None:
    made = io.BytesIO()
    kept.write_archive(made, 60618)
    made.seek(0)
    with tarfile.open(fileobj=made) as archive:
        entries = {one.name: one for one in archive}
    assert ROWS in entries
    assert {(one.uid, one.gid) for one in entries.values()} == {(60618, 60618)}


def test_an_archive_of_exactly_the_snapshot_is_accepted(kept: NodeSnapshot) -> None:
    kept.compare_archive(archived(kept, "cassandra/"), "volume")


@pytest.mark.parametrize("damage", ["more", "changed", "missing", "link"])
def test_an_archive_of_anything_else_is_refused(
    kept: NodeSnapshot, empty: Path, damage: str
) -> None:
    kept.fill(empty)
    other = NodeSnapshot(empty, "")
    if damage == "more":
        (empty / "commitlog").mkdir()
        (empty / "commitlog/left").write_bytes(b"of another life")
    elif damage == "changed":
        (empty / ROWS).write_bytes(b"rowz")
    else:
        (empty / ROWS).unlink()
    if damage == "link":
        (empty / ROWS).symlink_to("elsewhere")
    with pytest.raises(ArtifactError, match="differs from its snapshot") as refused:
        kept.compare_archive(archived(other, "cassandra/"), "volume")
    assert refused.value.where == f"volume/{'commitlog/left' if damage == 'more' else ROWS}"


@pytest.mark.parametrize(
    "damage", ["changed", "missing", "added", "link", "pipe", "no listing", "no node", "not text"]
)
def test_a_damaged_snapshot_is_none_and_is_removed(
    cache: Path, kept: NodeSnapshot, node: Path, damage: str
) -> None:
    root = cache / "k"
    file, told = kept.root / ROWS, root / "SHA256SUMS"
    if damage == "changed":
        file.write_bytes(b"other")
    elif damage == "missing":
        file.unlink()
    elif damage == "added":
        (kept.root / "data" / "more").write_text("x")
    elif damage == "link":
        file.unlink()
        file.symlink_to(node / ROWS)
    elif damage == "pipe":
        file.unlink()
        os.mkfifo(file)
    elif damage == "no listing":
        told.unlink()
    elif damage == "no node":
        kept.root.rename(root / "2")
        told.write_text(listing(tree_digests(root)))
    else:
        told.write_bytes(b"\xff\xfe")
    assert find(cache, "k") is None
    assert not root.exists()


def test_a_cache_entry_that_is_a_link_is_not_followed(tmp_path: Path, node: Path) -> None:
    keep(tmp_path / "elsewhere", "k", [node], PARTS)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/k").symlink_to(tmp_path / "elsewhere/k")
    assert find(tmp_path / "cache", "k") is None
    assert (tmp_path / "elsewhere/k/SHA256SUMS").exists()
    assert keep(tmp_path / "cache", "k", [node], PARTS) == find(tmp_path / "cache", "k")


def test_a_making_that_was_killed_leaves_nothing_that_counts(cache: Path, node: Path) -> None:
    (cache / ".k.partial" / "1" / "data").mkdir(parents=True)
    (cache / ".k.partial" / "1" / "data" / "half").write_bytes(b"ro")
    assert find(cache, "k") is None
    made = keep(cache, "k", [node], PARTS)
    assert find(cache, "k") == made
    assert not (made.nodes[0].root / "data" / "half").exists()
    assert [one.name for one in cache.iterdir()] == ["k"]


def test_a_node_without_data_leaves_no_snapshot(tmp_path: Path, cache: Path, node: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(ArtifactError, match="no data"):
        keep(cache, "k", [node, tmp_path / "other"], PARTS)
    assert list(cache.iterdir()) == []


def test_two_makers_wait_for_each_other(cache: Path, node: Path) -> None:
    made: list[str] = []

    def make(name: str) -> None:
        with only_maker(cache, "k"):
            if find(cache, "k") is None:
                made.append(name)
                keep(cache, "k", [node], PARTS)

    makers = [threading.Thread(target=make, args=(name,)) for name in ("one", "other")]
    for one in makers:
        one.start()
    for one in makers:
        one.join(10)
    assert len(made) == 1
    assert find(cache, "k") is not None


def test_a_cache_that_cannot_be_written_says_so(cache: Path) -> None:
    cache.write_text("a file")
    with pytest.raises(ArtifactError, match="cannot be written"), only_maker(cache, "k"):
        pass


def test_no_key_is_taken_for_the_place_of_a_lock_or_a_part(cache: Path, node: Path) -> None:
    with only_maker(cache, "k"):
        keep(cache, "k", [node], PARTS)
    assert snapshot.find(cache, "k") is not None
    assert sorted(one.name for one in cache.iterdir()) == [".k.lock", "k"]
