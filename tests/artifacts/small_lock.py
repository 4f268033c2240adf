"""A lock of two tiny jars and a tiny Java, served from memory in place of Maven and pip."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import TYPE_CHECKING

from tare.artifacts import tree
from tare.artifacts.digest import combined
from tare.artifacts.lock import Jar, JavaRuntime, Lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pytest

JARS = {"cassandra-all-9.9.jar": b"the database", "guava-1.0.jar": b"a dependency"}
JAVA_FILES = {"bin/java": b"#!/bin/sh\n", "lib/modules": b"classes", "release": b"17"}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def wheel_bytes(files: Mapping[str, bytes]) -> bytes:
    """A wheel with these members; those below bin/ are executable."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = (0o100755 if "/bin/" in name else 0o100644) << 16
            archive.writestr(member, content)
    return sink.getvalue()


WHEEL = wheel_bytes({f"jre/{name}": content for name, content in JAVA_FILES.items()})


def small_lock() -> Lock:
    digests = {f"cassandra/lib/{name}": sha256(content) for name, content in JARS.items()}
    digests |= {f"jre/{name}": sha256(content) for name, content in JAVA_FILES.items()}
    jars = (
        Jar(group="org.apache.cassandra", artifact="cassandra-all", version="9.9", sha256="0" * 64),
        Jar(group="com.google.guava", artifact="guava", version="1.0", sha256="0" * 64),
    )
    return Lock(
        version="9.9",
        maven_plugin="org.example:plugin:1",
        tree_sha256=combined(digests),
        java=JavaRuntime(
            distribution="tinyjava",
            version="17",
            wheel="tinyjava-17.whl",
            sha256=sha256(WHEEL),
            directory="jre",
            machine="x86_64",
        ),
        jars=tuple(jar.model_copy(update={"sha256": sha256(JARS[jar.file])}) for jar in jars),
    )


class Repository:
    """Serves the small lock's files, or what a test puts in their place; counts the fetches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.jars = dict(JARS)
        self.fetches = 0
        monkeypatch.setattr(tree, "read_lock", lambda version: small_lock())
        monkeypatch.setattr(tree, "copy_locked", self._copy)
        monkeypatch.setattr(tree, "fetch_wheel", self._wheel)

    def _copy(self, jars: Iterable[Jar], directory: Path, plugin: str) -> None:
        self.fetches += 1
        for jar in jars:
            (directory / jar.file).write_bytes(self.jars[jar.file])

    def _wheel(self, java: JavaRuntime, directory: Path) -> Path:
        (directory / java.wheel).write_bytes(WHEEL)
        return directory / java.wheel
