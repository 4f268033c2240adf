"""The cache of fetched tools: a directory per tool and version, complete or absent."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts.cache_entry import only_maker, whole_entry
from tare.artifacts.digest import LISTING, listing, text_digest, tree_digests
from tare.artifacts.tree import default_cache
from tare.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Tool:
    """One load generator on this machine.

    Attributes:
        name: ycsb, cassandra-stress, latte.
        version: of the tool.
        root: the directory that holds its files.
        command: the words that start it, without its options.
        digest: SHA-256 over the relative paths and SHA-256 of all its files.
    """

    name: str
    version: str
    root: Path
    command: tuple[str, ...]
    digest: str


def kept(name: str, cache: Path | None, fetch: Callable[[Path], None]) -> tuple[Path, str]:
    """The directory `name` of the cache, fetched if it is not there, and its digest.

    Args:
        name: tool and version, and what else its files depend on.
        cache: Tare's cache; None is the default one.
        fetch: fills an empty directory; if it raises, nothing stays behind.

    Raises:
        ArtifactError: the cache cannot be written, or a file in it was altered.
    """
    directory = (cache or default_cache()) / "tools"
    root = directory / name
    if not root.exists():
        with only_maker(directory, name):
            if not root.exists():  # another process has made it meanwhile
                with whole_entry(directory, name, "a tool") as aside:
                    fetch(aside)
                    (aside / LISTING).write_text(listing(tree_digests(aside)), "utf-8")
    try:
        return root, _verified(root)
    except OSError as error:
        raise ArtifactError(
            "the tools' cache cannot be read", where=str(directory), why=str(error)
        ) from error


def _verified(root: Path) -> str:
    """Compare every file with the fetched one; returns the digest."""
    path = root / LISTING
    expected = path.read_text("utf-8") if path.is_file() else ""
    if listing(tree_digests(root)) != expected:
        raise ArtifactError(
            "a fetched tool was altered",
            where=str(root),
            why="its files are no longer those that were fetched",
            remedy=f"remove the directory, it is fetched anew: rm -r {shlex.quote(str(root))}",
        )
    return text_digest(expected)
