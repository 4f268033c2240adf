"""Build contexts: a tar of a file system from scratch, the same bytes for the same files."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Name lookup in the image as on any Debian host: /etc/hosts first, then DNS.
_ETC = {
    "etc/passwd": b"root:x:0:0:root:/tmp:/sbin/nologin\nnobody:x:65534:65534::/tmp:/sbin/nologin\n",
    "etc/group": b"root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files dns\n",
}
_ROOT = "root"
_SCRATCH = str(PurePosixPath(_ROOT) / "tmp")


def write_context(sink: IO[bytes], files: Mapping[str, Path], path_variable: str) -> None:
    """Write a context whose image holds `files`, /tmp and a minimal /etc, and nothing else.

    There is no shell, no VOLUME and no entry point: a container is given its whole command.

    Args:
        sink: takes the uncompressed tar.
        files: content by absolute path in the image; the executable bits are kept.
        path_variable: PATH inside the image.
    """
    dockerfile = f"FROM scratch\nCOPY {_ROOT}/ /\nENV PATH={path_variable}\n"
    with tarfile.open(fileobj=sink, mode="w", format=tarfile.PAX_FORMAT) as tar:
        _add_bytes(tar, "Dockerfile", dockerfile.encode())
        for directory in _directories(files):
            # Everyone may write into /tmp: libraries unpack native code there.
            _add_directory(tar, directory, 0o1777 if directory == _SCRATCH else 0o755)
        for name, content in _ETC.items():
            _add_bytes(tar, f"{_ROOT}/{name}", content)
        for name in sorted(files):
            _add_file(tar, f"{_ROOT}/{name.lstrip('/')}", files[name])


def _directories(files: Mapping[str, Path]) -> list[str]:
    names = [f"{_ROOT}/{name.lstrip('/')}" for name in (*files, *_ETC)]
    parents = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    return sorted((parents | {_SCRATCH}) - {"."})


def _entry(name: str, mode: int) -> tarfile.TarInfo:
    # Owner, group and time are left at root and 1970: only names, modes and bytes count.
    entry = tarfile.TarInfo(name)
    entry.mode = mode
    return entry


def _add_directory(tar: tarfile.TarFile, name: str, mode: int) -> None:
    entry = _entry(name, mode)
    entry.type = tarfile.DIRTYPE
    tar.addfile(entry)


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = _entry(name, 0o644)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))


def _add_file(tar: tarfile.TarFile, name: str, path: Path) -> None:
    with path.open("rb") as stream:
        executable = path.stat().st_mode & 0o111
        entry = _entry(name, 0o755 if executable else 0o644)
        entry.size = path.stat().st_size
        tar.addfile(entry, stream)
