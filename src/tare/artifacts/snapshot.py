"""A filled data directory, kept in the cache, from which every deployment of a study starts.

Identical deployments that fill their own storage engines differ by some 5% in CPU time per
operation; from one copy of a cleanly stopped node's directory they are alike
(docs/decisions/0018).
"""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from tare.artifacts.digest import LISTING, combined, listing, parse_listing
from tare.artifacts.digest import tree_digests as digests
from tare.errors import ArtifactError


@dataclass(frozen=True)
class Snapshot:
    """A whole snapshot.

    Attributes:
        root: its directory; below it the content of a data directory.
        digest: SHA-256 over the listing of its files.
    """

    root: Path
    digest: str

    def fill(self, directory: Path) -> None:
        """Copy it into a data directory that holds nothing of another life.

        Raises:
            ArtifactError: there is something already, or the copy is not the snapshot.
        """
        parts = [entry.name for entry in self.root.iterdir() if entry.is_dir()]
        for name in parts:
            if (directory / name).exists():
                raise ArtifactError(
                    "a data directory is not empty",
                    where=str(directory / name),
                    why="a deployment starts from the snapshot and nothing else",
                    remedy="tare clean, then the same command again",
                )
            shutil.copytree(self.root / name, directory / name)
        copied = {n: d for n, d in digests(directory).items() if n.split("/")[0] in parts}
        if combined(copied) != self.digest:
            raise ArtifactError(
                "a data directory differs from its snapshot",
                where=str(directory),
                why="a file was copied wrongly, or changed in the cache meanwhile",
                remedy=f"remove {self.root}, then the same command again",
            )

    def archive(self, within: str = "") -> bytes:
        """It as a tar archive, below a directory; owned by root, as what is in an image."""
        out = BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for entry in sorted(self.root.iterdir()):
                if entry.is_dir():
                    archive.add(entry, f"{within}{entry.name}", filter=_of_root)
        return out.getvalue()


def _of_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def find(cache: Path, key: str) -> Snapshot | None:
    """The snapshot of this key; None where there is none that is whole, which is then removed."""
    root = cache / key
    if root.is_symlink() or not root.is_dir():
        return None
    try:
        told = parse_listing((root / LISTING).read_text(encoding="utf-8"))
        if told and _plain(root) and told == digests(root):
            return Snapshot(root, combined(told))
    except (OSError, UnicodeDecodeError):
        pass
    shutil.rmtree(root, ignore_errors=True)
    return None


def keep(cache: Path, key: str, directory: Path, parts: Sequence[str]) -> Snapshot:
    """Copy parts of a cleanly stopped node's data directory into the cache, whole or not at all.

    Raises:
        ArtifactError: there is nothing in it, or no room.
    """
    aside = cache / f".{key}.{os.getpid()}.partial"
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(parents=True)
        for name in parts:
            if (directory / name).is_dir():
                shutil.copytree(directory / name, aside / name)
        found = digests(aside)
        if not found:
            raise ArtifactError("a node left no data to keep", where=str(directory))
        (aside / LISTING).write_text(listing(found), encoding="utf-8")
        os.sync()
        shutil.rmtree(cache / key, ignore_errors=True)
        aside.rename(cache / key)
    except OSError as error:
        raise ArtifactError(
            "a snapshot could not be kept", where=str(cache), why=str(error), remedy="make room"
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return Snapshot(cache / key, combined(found))


def _plain(root: Path) -> bool:
    """Whether there are files and directories alone: a link would lead out of the cache."""
    return not any(path.is_symlink() for path in _walk(root))


def _walk(root: Path) -> Iterator[Path]:
    for directory, folders, names in os.walk(root):
        yield from (Path(directory) / name for name in (*folders, *names))
