"""Transfers files to a host once, and finds them there by their digest."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
import threading
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tare.artifacts.digest import LISTING, combined, digests_of, listing, parse_listing
from tare.machines.ssh import HostError
from tare.runtimes.kept_log import keep_end, read_over
from tare.runtimes.ssh.names import owner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import PurePosixPath

    from tare.machines.ssh import Connection

_VERIFY = (
    'cd "$1" && [ "$(sha256sum <SHA256SUMS)" = "$2  -" ] && exec sha256sum -c --status SHA256SUMS'
)
_UNPACK = 'mkdir -p "$1" && cd "$1" && exec tar -xf -'
_PACK = """
cd "$1" || exit
names=$2
set --
for one in $names; do if [ -f "$one" ]; then set -- "$@" "$one"; fi; done
exec tar -chf - -T /dev/null -- "$@"
"""
_SUMS = 'cd "$1" && shift && exec sha256sum -- "$@"'
_SETTLE = 'rm -rf "$2" && mv "$1" "$2"'
_TRANSFER_S = 300.0
"""longest wait for a transfer, besides the time for its size: the host's disk may hang"""
_SLOWEST = 250_000
"""bytes per second that any network transfers"""
_WORDS_S = 2.0
"""longest wait for the last words of a transfer that has ended"""


def bring(
    connection: Connection,
    files: Iterable[tuple[str, Path]],
    below: PurePosixPath,
    what: str,
    say: Callable[[str], None],
    folders: Iterable[str] = (),
) -> PurePosixPath:
    """Bring files to a directory of the host that is named by their digest; every one is verified.

    Files that are there already are verified too, and brought again if they differ.

    Args:
        connection: to the host.
        files: path below that directory, and the file here.
        below: the parent directory on the host.
        what: what the files are, for people.
        say: told what takes long.
        folders: directories beside those that files need, parents first; they are not verified.

    Returns:
        The directory on the host.

    Raises:
        HostError: the files do not arrive as they are here.
    """
    found = sorted(files)
    digests = digests_of(found)
    whole = combined(digests)
    target = below / whole[:16]
    if connection.run("/bin/sh", "-c", _VERIFY, "sh", target, whole, within_s=120).status == 0:
        return target
    size = sum(path.stat().st_size for _, path in found)
    say(f"bringing {what} to {connection.host} ({size / 1e6:.0f} MB)")
    aside = below / f".{target.name}.{owner()}.partial"
    connection.check("rm", "-rf", aside)
    within_s = _TRANSFER_S + size / _SLOWEST
    send(connection, lambda tar: _add(tar, folders, found, listing(digests)), str(aside), within_s)
    done = connection.run("/bin/sh", "-c", _VERIFY, "sh", aside, whole, within_s=120)
    if done.status != 0:
        raise HostError(
            f"{what} did not arrive as it is here",
            where=str(connection.host),
            why=f"digests differ in {aside}",
            remedy="check the host's disk (df -h), then run again",
        )
    connection.check("/bin/sh", "-c", _SETTLE, "sh", aside, target)
    return target


def _add(
    tar: tarfile.TarFile, folders: Iterable[str], files: list[tuple[str, Path]], sums: str
) -> None:
    for name in folders:
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(entry)
    for name, path in files:
        with path.open("rb") as stream:
            _member(tar, name, path.stat().st_size, stream, bool(path.stat().st_mode & 0o111))
    text = sums.encode()
    _member(tar, LISTING, len(text), io.BytesIO(text), False)


def _member(
    tar: tarfile.TarFile, name: str, size: int, stream: IO[bytes], executable: bool
) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o755 if executable else 0o644
    tar.addfile(entry, stream)


class _Transfer:
    """A process on a channel, which is killed when its time is up."""

    def __init__(self, process: subprocess.Popen[bytes], within_s: float) -> None:
        self._process = process
        self._within_s = within_s
        self._late = False
        self._told = b""
        self._timer = threading.Timer(within_s, self._kill)
        self._timer.daemon = True
        # on its own connection: the standing one may hold the stream of a killed transfer
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> _Transfer:
        self._timer.start()
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.wait()

    def fault(self, seen: str, good: tuple[int, ...] = (0,)) -> str:
        """Why it failed, once it has ended; empty: it did not.

        Args:
            seen: what was found wrong with it meanwhile.
            good: statuses with which it may end.
        """
        status = self._process.wait()
        if self._late:
            return f"it did not end within {self._within_s:.0f} s"
        self._reader.join(_WORDS_S)
        if status in good and not seen:
            return ""
        return self._told.decode(errors="replace").strip() or seen or f"exit status {status}"

    def _kill(self) -> None:
        self._late = True
        self._process.kill()

    def _read(self) -> None:
        if self._process.stderr is not None:
            self._told = self._process.stderr.read()


def send(
    connection: Connection,
    write: Callable[[tarfile.TarFile], None],
    into: str,
    within_s: float = _TRANSFER_S,
) -> None:
    """Unpack there what `write` puts into an archive here.

    Raises:
        HostError: it did not arrive whole, or not in time.
    """
    process = connection.start("/bin/sh", "-c", _UNPACK, "sh", into, stdin=subprocess.PIPE)
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    fault = ""
    with _Transfer(process, within_s) as transfer:
        try:
            with process.stdin, tarfile.open(fileobj=process.stdin, mode="w|") as tar:
                write(tar)
        except BrokenPipeError:
            fault = "it ended before all was sent"
        fault = transfer.fault(fault)
    if fault:
        raise HostError(
            "files did not arrive",
            where=f"{connection.host}: {into}",
            why=fault,
            remedy=f"{connection.by_hand()} df -h",
        )


def send_directory(connection: Connection, source: Path, into: str) -> None:
    """Copy a directory of plain files and directories, which is small.

    Raises:
        HostError: it did not arrive whole.
    """
    send(connection, lambda tar: tar.add(source, "."), into)


def fetch(
    connection: Connection,
    source: str,
    names: str,
    into: Path,
    prefix: str = "",
    *,
    growing: bool = False,
    within_s: float = _TRANSFER_S,
) -> list[str]:
    """Copy plain files below a directory there into a directory here; digests are compared.

    Args:
        connection: to the host.
        source: the directory there.
        names: patterns of names below it, with blanks between them.
        into: the directory here.
        prefix: put before their last names, under which they are kept here.
        growing: they may be written to meanwhile, as logs are. Then they come in their present
            length, and of a long one only the end.
        within_s: the longest wait.

    Returns:
        The names here.

    Raises:
        HostError: they did not arrive whole, or not in time.
    """
    into.mkdir(parents=True, exist_ok=True)
    process = connection.start("/bin/sh", "-c", _PACK, "sh", source, names)
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    fault = ""
    found: dict[str, Path] = {}
    with _Transfer(process, within_s) as transfer:
        try:
            found = _unpack(process.stdout, into, prefix, ends_only=growing)
            process.stdout.read()
        except (tarfile.TarError, EOFError) as error:
            fault = str(error)
            process.kill()
        fault = transfer.fault(fault, (0, 1) if growing else (0,))
    if fault:
        raise _not_back(connection, source, fault)
    if found and not growing:
        text = connection.check("/bin/sh", "-c", _SUMS, "sh", source, *found)
        if parse_listing(text) != digests_of(found.items()):
            raise _not_back(connection, source, "their digests differ")
    return sorted(path.name for path in found.values())


def _not_back(connection: Connection, source: str, why: str) -> HostError:
    return HostError("files did not come back", where=f"{connection.host}: {source}", why=why)


def _unpack(stream: IO[bytes], into: Path, prefix: str, *, ends_only: bool) -> dict[str, Path]:
    """Plain files only, under their last names: an archive from elsewhere chooses no path."""
    found: dict[str, Path] = {}
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            last = Path(member.name).name
            content = archive.extractfile(member) if member.isreg() else None
            if content is None or last in ("", ".", ".."):
                continue
            path = found[member.name] = into / f"{prefix}{last}"
            if ends_only:
                keep_end(content, member.size, path, partial(read_over, content))
                continue
            with path.open("wb") as file:
                shutil.copyfileobj(content, file)
    return found
