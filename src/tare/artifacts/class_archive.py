"""Class-data archives: Cassandra's classes as the JVM has them in memory, kept in the cache.

A node that maps an archive starts sooner: it need not find, read, check and lay out its classes.
The JVM refuses an archive if the text of the class path, or a jar's size or time, differs. So the
class path is relative to the working directory, whose `lib` links to the jars, and all jars have
one time (docs/decisions/0021-class-archive.md).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.artifacts.cache_entry import whole_entry
from tare.artifacts.digest import LISTING, file_digest, listing, parse_listing
from tare.artifacts.program import run_to_end
from tare.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tare.artifacts.tree import Tree

NAME = "classes.jsa"
JARS = "lib"
"""link in the working directory to the directory of the jars"""
_ARGUMENTS = "jvm.args"
_DUMP_S = 300.0
"""timeout for the JVM that makes an archive; 10 to 25 s were seen"""


@dataclass(frozen=True)
class ClassArchive:
    """A class-data archive.

    Attributes:
        file: the archive's path.
        digest: its SHA-256.
    """

    file: Path
    digest: str


def class_path(jars: Sequence[str]) -> list[str]:
    """The jars as the JVM's class path names them, the same wherever they are."""
    return [f"{JARS}/{jar}" for jar in jars]


def clear_jar_times(tree: Tree) -> str:
    """Set the times of the tree's jars to 0, as in an image; why that failed, or empty."""
    try:
        for jar in tree.lib.glob("*.jar"):
            if jar.stat().st_mtime_ns:
                os.utime(jar, ns=(0, 0))
    except OSError as error:
        return f"the times of the jars cannot be set: {error}"
    return ""


def find(cache: Path, key: str) -> ClassArchive | None:
    """The archive with this key; None if it is missing or damaged."""
    file, told = cache / key / NAME, cache / key / LISTING
    try:
        expected = parse_listing(told.read_text(encoding="utf-8")).get(NAME, "")
        whole = not file.is_symlink() and file.is_file() and file_digest(file) == expected
    except (OSError, ValueError):
        return None
    return ClassArchive(file, expected) if whole else None


def make(cache: Path, key: str, tree: Tree, arguments: str, classes: Path) -> ClassArchive:
    """Have the JVM make an archive, whole or not at all.

    Hold `cache_entry.only_maker`: only one process at a time may do this.

    Args:
        cache: directory of all archives.
        key: the archive's name.
        tree: the files that the archive is made of.
        arguments: text of an argument file, for the JVM that will use the archive.
        classes: the class list that a JVM wrote after it had loaded the classes.

    Raises:
        ArtifactError: the JVM could not make it, or it cannot be written.
    """
    with whole_entry(cache, key, "a class-data archive") as aside:
        (aside / JARS).symlink_to(tree.lib)
        (aside / _ARGUMENTS).write_text(arguments, encoding="utf-8")
        file = aside / NAME
        command = [str(tree.java), f"@{_ARGUMENTS}", "-Xshare:dump"]
        command += [f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={NAME}"]
        ended = run_to_end(command, _DUMP_S, cwd=aside)
        if not ended.ok or not file.is_file():
            raise ArtifactError(
                "no class-data archive could be made", where=str(tree.java), why=ended.last(3)
            )
        (aside / JARS).unlink()
        (aside / _ARGUMENTS).unlink()
        file.chmod(0o444)
        digest = file_digest(file)
        (aside / LISTING).write_text(listing({NAME: digest}), encoding="utf-8")
    return ClassArchive(cache / key / NAME, digest)
