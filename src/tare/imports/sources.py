"""Files from paths: plain files, files of directories, and members of archives, read in place.

Nothing is ever unpacked to disk; a member's name is a label and no path. Files that are not read
are named with the reason, and the rest goes on.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tare.imports.archives import A_LINK, HEAD, is_archive, members
from tare.imports.limits import LARGEST_ARCHIVE, LARGEST_FILE, MIB, MOST_FILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MEMBER = "::"
"""Between an archive's path and the member's name."""
LONGEST_SHOWN = 300


@dataclass(frozen=True)
class File:
    """One file's content.

    Attributes:
        label: its name in messages and records: its path, or ARCHIVE::MEMBER.
        name: its path as the template sees it, with / between components.
    """

    label: str
    name: str
    data: bytes


@dataclass(frozen=True)
class Skipped:
    """A file that is not used, and why, in one sentence.

    Attributes:
        fault: something is wrong with the file; else it is only not one of these trials.
    """

    label: str
    reason: str
    fault: bool = True


def files(paths: Iterable[Path]) -> Iterator[File | Skipped]:
    """Everything at these paths, directories in the order of names.

    Symbolic links are followed if they are named themselves, but not inside directories.
    """
    count = 0
    for path in paths:
        for one in _at(path):
            count += 1
            if count > MOST_FILES:
                yield Skipped(shown(str(path)), f"more than {MOST_FILES:,} files: the rest is left")
                return
            yield one


def wanted(one: File | Skipped, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether its path fits a pattern to include, if there are any, and none to exclude.

    Patterns are of the path's end: `*.txt`, `run-*/result.txt`.
    """
    path = PurePosixPath(one.name if isinstance(one, File) else one.label.split(MEMBER)[-1])
    if any(path.match(pattern) for pattern in exclude):
        return False
    return not include or any(path.match(pattern) for pattern in include)


def _at(path: Path) -> Iterator[File | Skipped]:
    if path.is_dir():
        yield from _directory(path)
    elif not path.exists():
        yield Skipped(shown(str(path)), "there is no such file")
    else:
        yield from _file(path)


def _directory(root: Path) -> Iterator[File | Skipped]:
    for place, directories, names in os.walk(root):
        for name in [one for one in directories if (Path(place) / one).is_symlink()]:
            yield Skipped(shown(str(Path(place) / name)), A_LINK)
        directories.sort()
        for name in sorted(names):
            path = Path(place) / name
            if path.is_symlink():
                yield Skipped(shown(str(path)), A_LINK)
            else:
                yield from _file(path)


def _file(path: Path) -> Iterator[File | Skipped]:
    label = shown(str(path))
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            yield Skipped(label, "not a regular file")
            return
        with path.open("rb") as stream:
            archive = is_archive(stream.read(HEAD))
        if archive:
            if about.st_size > LARGEST_ARCHIVE:
                yield Skipped(label, f"an archive larger than {LARGEST_ARCHIVE // MIB} MiB")
                return
            yield from _members(path, label)
            return
        if about.st_size > LARGEST_FILE:
            yield Skipped(label, f"larger than {LARGEST_FILE // MIB} MiB")
            return
        yield File(label, path.as_posix(), path.read_bytes())
    except OSError as error:
        yield Skipped(label, f"it cannot be read: {error.strerror or error}")


def _members(path: Path, label: str) -> Iterator[File | Skipped]:
    for member in members(path):
        name = member.name or path.stem
        inside = f"{label}{MEMBER}{shown(member.name)}" if member.name else label
        if member.reason:
            yield Skipped(inside, member.reason)
        elif is_archive(member.data[:HEAD]):
            yield Skipped(inside, "an archive inside an archive, which is not opened")
        else:
            yield File(inside, name, member.data)


def shown(name: str) -> str:
    """A foreign name, safe to print: no control characters, not too long."""
    plain = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)
    return plain if len(plain) <= LONGEST_SHOWN else plain[: LONGEST_SHOWN - 3] + "..."
