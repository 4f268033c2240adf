"""The digest of a directory tree: the SHA-256 of its SHA256SUMS listing."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LISTING = "SHA256SUMS"


def file_digest(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def tree_digests(root: Path) -> dict[str, str]:
    """SHA-256 of every file under `root` by its relative path, without the listing itself."""
    return digests_of((name, root / name) for name in _files(root) if name != LISTING)


def digests_of(files: Iterable[tuple[str, Path]]) -> dict[str, str]:
    """SHA-256 of each named file."""
    return {name: file_digest(path) for name, path in files}


def listing(digests: Mapping[str, str]) -> str:
    """The digests in the format of sha256sum, sorted by path: ``sha256sum -c`` reads it."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def parse_listing(text: str) -> dict[str, str]:
    """Digests by relative path, read from a text that `listing` wrote."""
    pairs = (line.split("  ", 1) for line in text.splitlines() if "  " in line)
    return {name: digest for digest, name in pairs}


def combined(digests: Mapping[str, str]) -> str:
    """One SHA-256 for all files: the digest of their listing."""
    return text_digest(listing(digests))


def text_digest(text: str) -> str:
    """SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def _files(root: Path) -> list[str]:
    found = []
    for directory, _, names in os.walk(root):
        found += [(Path(directory) / name).relative_to(root).as_posix() for name in names]
    return sorted(found)
