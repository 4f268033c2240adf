"""Members of zip and tar archives and of compressed files, in bounded memory, never unpacked."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, cast

from tare.imports.limits import (
    LARGEST_ARCHIVE,
    LARGEST_FILE,
    MIB,
    MOST_FILES,
    RATIO,
    RATIO_FROM,
    too_large,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

A_LINK = "a link, which is not followed"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_COMPRESSED: dict[bytes, Callable[[IO[bytes]], object]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_TAR = b"ustar"
_TAR_MAGIC = slice(257, 262)
HEAD = 512
"""Bytes from the beginning of a file that show whether it is an archive."""
_ENCRYPTED = 0x1

# Errors of the standard library on archives that are cut, damaged or forged.
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,  # an unknown compression, too
    OverflowError,
    IndexError,
    KeyError,
    MemoryError,
)


@dataclass(frozen=True)
class ArchiveMember:
    """One member; `reason` says why it has no data. The name is empty for a lone compressed
    file."""

    name: str
    data: bytes = b""
    reason: str = ""


_REST_LEFT = ArchiveMember("", reason=f"more than {MOST_FILES:,} members: the rest is left")


class _TooMuchError(OSError):
    """The archive unpacks to more than the limit; the text says to how much."""


def is_archive(head: bytes) -> bool:
    """Whether a file that begins with these HEAD bytes is a zip or tar archive, or compressed."""
    return head.startswith((*_ZIP, *_COMPRESSED)) or head[_TAR_MAGIC] == _TAR


def members(path: Path) -> Iterator[ArchiveMember]:
    """All members, in the archive's order; damage is a member without data."""
    with path.open("rb") as stream:
        head = stream.read(HEAD)
        stream.seek(0)
        try:
            if head.startswith(_ZIP):
                yield from _zip(stream)
            elif head[_TAR_MAGIC] == _TAR:
                yield from tar_members(stream)
            else:
                size = path.stat().st_size
                opener = next(o for magic, o in _COMPRESSED.items() if head.startswith(magic))
                yield from _unpacked(cast("IO[bytes]", opener(stream)), size)
        except _BROKEN as error:
            yield ArchiveMember("", reason=f"a damaged archive: {_why(error)}")


def tar_members(stream: IO[bytes]) -> Iterator[ArchiveMember]:
    """Members of an open tar archive, read from front to back."""
    count = 0
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for entry in archive:
            count += 1
            if count > MOST_FILES:
                yield _REST_LEFT
                return
            if entry.isdir():
                continue
            yield _tar_member(archive, entry)


def _tar_member(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> ArchiveMember:
    if entry.issym() or entry.islnk():
        return ArchiveMember(entry.name, reason=A_LINK)
    if not entry.isfile():
        return ArchiveMember(entry.name, reason="not a regular file")
    if entry.size > LARGEST_FILE:
        return ArchiveMember(entry.name, reason=f"larger than {LARGEST_FILE // MIB} MiB")
    content = archive.extractfile(entry)
    if content is None:
        return ArchiveMember(entry.name, reason="not a regular file")
    return ArchiveMember(entry.name, content.read(LARGEST_FILE))


def _zip(stream: IO[bytes]) -> Iterator[ArchiveMember]:
    with zipfile.ZipFile(stream) as archive:
        entries = archive.infolist()
        total = 0
        for number, entry in enumerate(sorted(entries, key=lambda one: one.filename)):
            if number >= MOST_FILES:
                yield _REST_LEFT
                return
            if entry.is_dir():
                continue
            member = _zip_member(archive, entry, LARGEST_ARCHIVE - total)
            total += len(member.data)
            yield member


def _zip_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int) -> ArchiveMember:
    name = entry.filename
    if entry.flag_bits & _ENCRYPTED:
        return ArchiveMember(name, reason="encrypted")
    if stat.S_ISLNK(entry.external_attr >> 16):
        return ArchiveMember(name, reason=A_LINK)
    reason = too_large(entry.file_size, entry.compress_size)
    if reason is not None:
        return ArchiveMember(name, reason=reason)
    if entry.file_size > left:
        return ArchiveMember(name, reason=f"beyond {LARGEST_ARCHIVE // MIB} MiB in one archive")
    try:
        with archive.open(entry) as content:
            data = content.read(entry.file_size + 1)  # not more than declared, whatever it holds
    except _BROKEN as error:
        return ArchiveMember(name, reason=f"a damaged member: {_why(error)}")
    if len(data) != entry.file_size:
        return ArchiveMember(name, reason="a damaged member: it is not as large as it says")
    return ArchiveMember(name, data)


class _Bounded(io.RawIOBase):
    """A decompressed stream that ends with an error before it fills the memory."""

    def __init__(self, stream: IO[bytes], compressed: int) -> None:
        self._stream = stream
        self._left = min(LARGEST_ARCHIVE, max(RATIO_FROM, RATIO * compressed))
        self._most = self._left

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > self._left + 1:
            size = self._left + 1
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _TooMuchError(f"it unpacks to more than {self._most // MIB} MiB")
        return data


def _unpacked(stream: IO[bytes], compressed: int) -> Iterator[ArchiveMember]:
    """The members of a compressed tar archive, or the single compressed file."""
    with stream:
        head = stream.read(HEAD)
        stream.seek(0)
        bounded = cast("IO[bytes]", _Bounded(stream, compressed))
        if head[_TAR_MAGIC] == _TAR:
            yield from tar_members(bounded)
            return
        data = bounded.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            yield ArchiveMember("", reason=f"larger than {LARGEST_FILE // MIB} MiB")
        else:
            yield ArchiveMember("", data)


def _why(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."
