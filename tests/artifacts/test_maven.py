"""Maven is asked for exactly the locked jars; when it cannot, its own reason is passed on."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from tare.artifacts.lock import read_lock
from tare.artifacts.maven import copy_file, copy_locked, pom
from tare.errors import ArtifactError, RuntimeUnavailableError

from .small_lock import small_lock

if TYPE_CHECKING:
    from pathlib import Path

NS = {"m": "http://maven.apache.org/POM/4.0.0"}


def test_every_jar_is_a_direct_dependency_with_nothing_behind_it() -> None:
    lock = read_lock("5.0.9")

    # the pom is this program's own text
    root = ElementTree.fromstring(pom(lock.jars))  # noqa: S314
    dependencies = root.findall("m:dependencies/m:dependency", NS)

    fields = ("groupId", "artifactId", "version", "classifier")
    asked = {tuple(d.findtext(f"m:{field}", None, NS) for field in fields) for d in dependencies}
    assert asked == {(j.group, j.artifact, j.version, j.classifier) for j in lock.jars}
    assert len(dependencies) == len(lock.jars)
    for dependency in dependencies:
        exclusion = dependency.find("m:exclusions/m:exclusion", NS)
        assert exclusion is not None
        assert [part.text for part in exclusion] == ["*", "*"]


def _mvn(directory: Path, script: str) -> None:
    file = directory / "mvn"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_without_maven_the_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RuntimeUnavailableError) as caught:
        copy_locked(small_lock().jars, tmp_path)
    assert caught.value.remedy == "apt-get install maven"


def test_mavens_error_is_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _mvn(tmp_path, "echo '[INFO] fine'; echo '[ERROR] guava:1.0 was not found'; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    with pytest.raises(ArtifactError) as caught:
        copy_locked(small_lock().jars, tmp_path)
    assert caught.value.why == "[ERROR] guava:1.0 was not found"


def test_the_plugin_of_the_lock_is_the_one_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _mvn(tmp_path, f'echo "$@" > {tmp_path}/arguments')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    copy_locked(small_lock().jars, tmp_path / "lib", "org.example:plugin:1")

    arguments = (tmp_path / "arguments").read_text().split()
    assert "org.example:plugin:1:copy-dependencies" in arguments
    assert f"-DoutputDirectory={tmp_path / 'lib'}" in arguments
    assert "--strict-checksums" in arguments


def _copies(directory: Path, content: str) -> None:
    """A Maven that copies one file with this content, and keeps its arguments."""
    _mvn(
        directory,
        f'echo "$@" > {directory}/arguments; mkdir {directory}/out; '
        f"printf '%s' '{content}' > {directory}/out/tool.tar.gz",
    )


def test_a_file_with_a_pinned_digest_needs_no_checksum_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _copies(tmp_path, "a tool")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    copy_file("g:a:1:tar.gz", tmp_path / "out", hashlib.sha256(b"a tool").hexdigest())

    assert (tmp_path / "out" / "tool.tar.gz").read_text() == "a tool"
    assert "--lax-checksums" in (tmp_path / "arguments").read_text().split()


def test_a_file_that_is_not_the_pinned_one_is_refused_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _copies(tmp_path, "something else")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    with pytest.raises(ArtifactError) as caught:
        copy_file("g:a:1:tar.gz", tmp_path / "out", hashlib.sha256(b"a tool").hexdigest())

    assert "tool.tar.gz" in caught.value.what
    assert hashlib.sha256(b"something else").hexdigest() in caught.value.why
    assert list((tmp_path / "out").iterdir()) == []


def test_without_a_pinned_digest_the_repository_has_to_have_a_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _copies(tmp_path, "a tool")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    copy_file("g:a:1", tmp_path / "out")

    assert "--strict-checksums" in (tmp_path / "arguments").read_text().split()
