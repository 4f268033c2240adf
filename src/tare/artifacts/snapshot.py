"""Filled data directories, kept in the cache, from which every deployment of a study starts.

Identical deployments that fill their own storage engines differ by some 5% in CPU time per
operation. Deployments that start from one copy of cleanly stopped nodes' directories are alike
(docs/decisions/0019-snapshot.md).
"""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO

from tare.artifacts.cache_entry import whole_entry
from tare.artifacts.digest import LISTING, combined, listing, parse_listing
from tare.artifacts.digest import tree_digests as digests
from tare.errors import ArtifactError


@dataclass(frozen=True)
class NodeSnapshot:
    """Content of one node's data directory when the node starts.

    Attributes:
        root: a directory with the same content.
        digest: SHA-256 over the listing of its files.
    """

    root: Path
    digest: str

    def fill(self, directory: Path) -> None:
        """Copy the snapshot into a data directory that holds no files.

        Raises:
            ArtifactError: there are files already, or the copy differs from the snapshot.
        """
        left = next((path for path in _walk(directory) if not _is_directory(path)), None)
        if left is not None:
            raise not_empty(str(left))
        shutil.copytree(self.root, directory, dirs_exist_ok=True)
        self.compare(digests(directory), str(directory))

    def files(self) -> list[tuple[str, Path]]:
        """Each file, by its path below the directory."""
        found = (path for path in _walk(self.root) if not _is_directory(path))
        return sorted((path.relative_to(self.root).as_posix(), path) for path in found)

    def folders(self) -> list[str]:
        """Each directory, empty ones too; parents before their children."""
        found = (path for path in _walk(self.root) if _is_directory(path))
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def write_archive(self, sink: IO[bytes], owner: int = 0) -> None:
        """Write it as a tar archive whose files have `owner` as user and group id."""
        with tarfile.open(fileobj=sink, mode="w") as archive:
            for entry in sorted(self.root.iterdir()):
                archive.add(entry, entry.name, filter=partial(_of, owner))

    def compare_archive(self, source: IO[bytes], where: str) -> None:
        """Check that a tar archive of one directory holds exactly this snapshot.

        Args:
            source: the archive, read as a stream; all its names begin with the
                directory's name.
            where: the directory, for errors.

        Raises:
            ArtifactError: a file is missing, different or unexpected.
        """
        found: dict[str, str] = {}
        with tarfile.open(fileobj=source, mode="r|") as archive:
            for entry in archive:
                name = "/".join(PurePosixPath(entry.name).parts[1:])
                content = archive.extractfile(entry) if entry.isreg() else None
                if content is not None:
                    found[name] = _digest(content)
                elif not entry.isdir():
                    found[name] = "a link or a device"
        self.compare(found, where)

    def compare(self, found: Mapping[str, str], where: str) -> None:
        """Check that a data directory holds exactly this snapshot.

        Args:
            found: SHA-256 of every file by its path in the directory; any text for what is no file.
            where: the directory, for errors.

        Raises:
            ArtifactError: a file is missing, different or unexpected.
        """
        if combined(found) == self.digest:
            return
        expected = digests(self.root)
        names = sorted(expected.keys() | found.keys())
        other = next((n for n in names if expected.get(n) != found.get(n)), "")
        raise ArtifactError(
            "a data directory differs from its snapshot",
            where=f"{where}/{other}",
            why="a file was left there, was copied wrongly, or was changed in the cache meanwhile",
            remedy=f"remove {self.root.parent}, then tare clean, then the same command again",
        )


@dataclass(frozen=True)
class Snapshot:
    """A whole snapshot.

    Attributes:
        key: its name in the cache, made from all that the data depends on.
        digest: SHA-256 over the listing of all its files.
        nodes: one for each node of the cluster, in the cluster's order.
    """

    key: str
    digest: str
    nodes: tuple[NodeSnapshot, ...]


def not_empty(left: str) -> ArtifactError:
    """The error for a data directory that holds a file before it is filled."""
    return ArtifactError(
        "a data directory is not empty",
        where=left,
        why="a deployment starts from the snapshot and nothing else",
        remedy="tare clean, then the same command again",
    )


def find(cache: Path, key: str) -> Snapshot | None:
    """The snapshot with this key; None if it is missing, or damaged and therefore removed."""
    root = cache / key
    if root.is_symlink():
        root.unlink()
    if not root.is_dir():
        return None
    try:
        if _holds_files_alone(root):  # first: reading a pipe or device may never end
            told = parse_listing((root / LISTING).read_text(encoding="utf-8"))
            if told and told == digests(root):
                return _whole(root, told)
    except (OSError, ValueError):
        pass
    shutil.rmtree(root, ignore_errors=True)
    return None


def keep(
    cache: Path,
    key: str,
    directories: Sequence[Path],
    parts: Sequence[str],
    leave_out: Sequence[str] = (),
) -> Snapshot:
    """Copy parts of cleanly stopped nodes' data directories into the cache, whole or not at all.

    Hold `cache_entry.only_maker`: only one process at a time may do this.

    Args:
        cache: directory of all snapshots.
        key: the snapshot's name.
        directories: the nodes' data directories, in the cluster's order.
        parts: patterns of the files and directories to keep from each.
        leave_out: patterns of names to leave out, at any depth.

    Raises:
        ArtifactError: a directory holds nothing to keep, or there is no room.
    """
    with whole_entry(cache, key, "a snapshot") as aside:
        for number, directory in enumerate(directories, start=1):
            _copy_parts(directory, aside / str(number), parts, leave_out)
        found = digests(aside)
        (aside / LISTING).write_text(listing(found), encoding="utf-8")
        os.sync()
    return _whole(cache / key, found)


def _copy_parts(
    directory: Path, into: Path, parts: Sequence[str], leave_out: Sequence[str]
) -> None:
    ignored = shutil.ignore_patterns(*leave_out)
    into.mkdir()
    for found in sorted(path for pattern in parts for path in directory.glob(pattern)):
        if found.is_dir():
            shutil.copytree(found, into / found.name, ignore=ignored)
        else:
            shutil.copy2(found, into / found.name)
    if not digests(into):
        raise ArtifactError("a node left no data to keep", where=str(directory))


def _whole(root: Path, told: Mapping[str, str]) -> Snapshot:
    """The snapshot at `root` with the listed files; ValueError: nodes are missing."""
    of: dict[int, dict[str, str]] = {}
    for name, digest in told.items():
        number, _, rest = name.partition("/")
        of.setdefault(int(number), {})[rest] = digest
    if sorted(of) != list(range(1, len(of) + 1)):
        raise ValueError("nodes are missing")
    nodes = (NodeSnapshot(root / str(number), combined(of[number])) for number in sorted(of))
    return Snapshot(root.name, combined(told), tuple(nodes))


def _of(owner: int, entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = owner
    entry.uname = entry.gname = ""
    return entry


def _digest(content: IO[bytes]) -> str:
    made = sha256()
    while part := content.read(1 << 20):
        made.update(part)
    return made.hexdigest()


def _holds_files_alone(root: Path) -> bool:
    """Whether it holds only files and directories: a link would lead out of the cache."""
    modes = (path.lstat().st_mode for path in _walk(root))
    return all(stat.S_ISREG(mode) or stat.S_ISDIR(mode) for mode in modes)


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _walk(root: Path) -> Iterator[Path]:
    for directory, folders, names in os.walk(root):
        yield from (Path(directory) / name for name in (*folders, *names))
