"""A tree is fetched once, verified on every use, and never incomplete."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

import pytest

from tare.artifacts.digest import LISTING, file_digest
from tare.artifacts.tree import cassandra_tree, default_cache
from tare.errors import ArtifactError

from .small_lock import JARS, Repository, sha256, small_lock

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Repository:
    return Repository(monkeypatch)


def test_the_tree_holds_the_locked_files(tmp_path: Path, repository: Repository) -> None:
    tree = cassandra_tree("9.9", None, tmp_path)

    assert {jar.name: jar.read_bytes() for jar in tree.lib.iterdir()} == JARS
    assert tree.java == tree.root / "jre" / "bin" / "java"
    assert tree.java.stat().st_mode & 0o111
    assert tree.jars == ["cassandra-all-9.9.jar", "guava-1.0.jar"]
    assert (tree.version, tree.locked, tree.digest) == ("9.9", True, small_lock().tree_sha256)
    assert tree.digest == file_digest(tree.root / LISTING)


def test_it_is_fetched_once_and_says_so(tmp_path: Path, repository: Repository) -> None:
    said: list[str] = []

    first = cassandra_tree("9.9", None, tmp_path, said.append)
    assert any("Maven" in line for line in said)
    said.clear()
    second = cassandra_tree("9.9", None, tmp_path, said.append)

    assert (first, repository.fetches, said) == (second, 1, [])


def test_an_altered_file_is_named_with_both_digests(tmp_path: Path, repository: Repository) -> None:
    tree = cassandra_tree("9.9", None, tmp_path)
    jar = tree.lib / "guava-1.0.jar"
    jar.chmod(0o644)
    jar.write_bytes(b"something else")

    with pytest.raises(ArtifactError) as caught:
        cassandra_tree("9.9", None, tmp_path)

    assert caught.value.where == str(jar)
    assert sha256(JARS[jar.name]) in caught.value.why
    assert sha256(b"something else") in caught.value.why
    assert f"rm -r {tree.root}" in caught.value.remedy


def test_a_file_too_many_is_found(tmp_path: Path, repository: Repository) -> None:
    tree = cassandra_tree("9.9", None, tmp_path)
    (tree.lib / "another.jar").write_bytes(b"on the class path")

    with pytest.raises(ArtifactError, match=r"another\.jar"):
        cassandra_tree("9.9", None, tmp_path)


def test_a_missing_file_of_the_java_runtime_is_found(
    tmp_path: Path, repository: Repository
) -> None:
    tree = cassandra_tree("9.9", None, tmp_path)
    (tree.java_home / "lib" / "modules").unlink()

    with pytest.raises(ArtifactError, match="no such file"):
        cassandra_tree("9.9", None, tmp_path)


def test_a_listing_made_to_fit_an_altered_file_does_not_help(
    tmp_path: Path, repository: Repository
) -> None:
    tree = cassandra_tree("9.9", None, tmp_path)
    jar = tree.lib / "guava-1.0.jar"
    jar.chmod(0o644)
    jar.write_bytes(b"evil")
    sums = tree.root / LISTING
    sums.write_text(sums.read_text().replace(sha256(JARS[jar.name]), sha256(b"evil")))

    with pytest.raises(ArtifactError) as caught:
        cassandra_tree("9.9", None, tmp_path)

    assert caught.value.where == str(sums)


def test_another_jar_from_the_mirror_never_becomes_a_tree(
    tmp_path: Path, repository: Repository
) -> None:
    repository.jars["guava-1.0.jar"] = b"from a bad mirror"

    with pytest.raises(ArtifactError, match=r"guava-1\.0\.jar from Maven is not the locked one"):
        cassandra_tree("9.9", None, tmp_path)
    assert not list(tmp_path.glob("cassandra-*"))

    repository.jars = dict(JARS)
    assert cassandra_tree("9.9", None, tmp_path).locked


def test_what_a_killed_fetch_left_is_swept_away(tmp_path: Path, repository: Repository) -> None:
    root = cassandra_tree("9.9", None, tmp_path).root
    shutil.rmtree(root)
    (tmp_path / f".{root.name}.partial" / "cassandra" / "lib").mkdir(parents=True)

    cassandra_tree("9.9", None, tmp_path)

    assert [one.name for one in tmp_path.iterdir() if one.is_dir()] == [root.name]


def test_a_cache_that_cannot_be_written_is_an_error_of_ours(
    tmp_path: Path, repository: Repository
) -> None:
    (tmp_path / "file").write_text("not a directory")

    with pytest.raises(ArtifactError, match="TARE_CACHE"):
        cassandra_tree("9.9", None, tmp_path / "file" / "cache")


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARE_CACHE", "/elsewhere")
    assert str(default_cache()) == "/elsewhere"
    monkeypatch.delenv("TARE_CACHE")
    monkeypatch.setenv("HOME", "/home/someone")
    assert str(default_cache()) == "/home/someone/.cache/tare"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A binary distribution of Cassandra 5.0.2, and a Java 17 to run it."""
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho '    java.specification.version = 17'\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    lib = tmp_path / "apache-cassandra-5.0.2" / "lib"
    lib.mkdir(parents=True)
    (lib / "apache-cassandra-5.0.2.jar").write_bytes(b"the database")
    (lib / "cassandra-driver.zip").write_bytes(b"not a jar")
    return lib.parent


def test_a_directory_of_the_users_is_taken_as_it_is_and_not_called_locked(home: Path) -> None:
    tree = cassandra_tree("5.0.2", home)

    assert (tree.version, tree.locked) == ("5.0.2", False)
    assert str(home) in tree.origin
    assert [name for name, _ in tree.files()] == [
        "cassandra/lib/apache-cassandra-5.0.2.jar",
        "jre/bin/java",
    ]
    assert len(tree.digest) == len(hashlib.sha256().hexdigest())


def test_its_digest_follows_its_files(home: Path) -> None:
    before = cassandra_tree("5.0.2", home).digest
    (home / "lib" / "apache-cassandra-5.0.2.jar").write_bytes(b"patched")

    assert cassandra_tree("5.0.2", home).digest != before


def test_a_directory_of_another_version_is_refused(home: Path) -> None:
    with pytest.raises(ArtifactError) as caught:
        cassandra_tree("5.0.9", home)

    assert "5.0.2" in caught.value.what
    assert caught.value.remedy == 'set database.version: "5.0.2"'


def test_a_directory_without_cassandra_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="binary distribution"):
        cassandra_tree("5.0.9", tmp_path)
