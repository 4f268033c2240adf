"""Where fetched tools are kept: a directory per tool and version, complete or not there."""

from __future__ import annotations

import fcntl
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
        command: the words that start it, its own options left out.
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
        fetch: fills an empty directory; what it raises leaves nothing behind.

    Raises:
        ArtifactError: the cache cannot be written, or a file in it was altered.
    """
    directory = (cache or default_cache()) / "tools"
    root = directory / name
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not root.exists():
            _fill(root, fetch)
        return root, _verified(root)
    except OSError as error:
        raise ArtifactError(
            "the tools' cache cannot be used",
            where=str(directory),
            why=str(error),
            remedy="make room, or set TARE_CACHE to a directory with 300 MB free",
        ) from error


def _fill(root: Path, fetch: Callable[[Path], None]) -> None:
    """One process at a time; under its final name only when everything is there."""
    aside = root.with_name(f".{root.name}.partial")
    with root.with_name(f".{root.name}.lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if root.exists():
            return
        # Whoever holds the lock owns this name: what is there was left by a killed process.
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        try:
            fetch(aside)
            (aside / LISTING).write_text(listing(tree_digests(aside)), "utf-8")
            aside.rename(root)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _verified(root: Path) -> str:
    """The digest, after every file was compared with what was fetched."""
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
