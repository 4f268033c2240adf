"""The lock on this machine: one run at a time; the refusal names the run that has it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from pathlib import Path

from tare.errors import LabBusyError, RuntimeUnavailableError

IMAGE_VARIABLE = "TARE_IN_IMAGE"
"""environment variable that setup/image.Dockerfile sets"""


def default_path() -> Path:
    """A place that all users of this machine share."""
    lock = Path("/run/lock")
    return (lock if lock.is_dir() else Path(tempfile.gettempdir())) / "tare-lab.lock"


def refuse_unshared(directory: Path, root: Path = Path("/")) -> None:
    """Refuse a lock directory that the machine's runs outside of the image do not see.

    Such a directory lies on the file system of the image's container. Nothing is known here about
    other containers: docs/security.md says what they need.

    Raises:
        RuntimeUnavailableError: only this container sees it.
    """
    if os.environ.get(IMAGE_VARIABLE) and directory.stat().st_dev == root.stat().st_dev:
        raise RuntimeUnavailableError(
            "the lock that all runs of this machine share is not in this container",
            where=str(directory),
            why="a run outside of it would not see this one, and each would measure the other",
            remedy=f"give it -v {directory}:{directory}, as docs/install.md has it",
        )


class RunLock:
    """Held from `with RunLock(run):` until the block or the process ends, however it dies."""

    def __init__(self, run: str, path: Path | None = None) -> None:
        self._run = run
        self._path = path or default_path()
        self._file = -1

    def __enter__(self) -> RunLock:
        """Take the lab.

        Raises:
            LabBusyError: another process has it.
            RuntimeUnavailableError: this user may not open the lock file, or nobody outside of
                this container sees it.
        """
        refuse_unshared(self._path.parent)
        self._file = _opened(self._path)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(os.pread(self._file, 4096, 0))
            os.close(self._file)
            raise LabBusyError(
                "another run holds this machine",
                where=str(self._path),
                why=f"{holder}; two runs at once would measure each other",
                remedy="wait for it, or stop it with Ctrl-C in its terminal",
            ) from None
        self._say_whose(json.dumps({"pid": os.getpid(), "run": self._run}).encode())
        return self

    def __exit__(self, *_: object) -> None:
        self._say_whose(b"")
        os.close(self._file)

    def _say_whose(self, content: bytes) -> None:
        """Name the run for whoever comes meanwhile; the lock itself needs no content."""
        with contextlib.suppress(OSError):  # another user's file, or a full disk
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, content, 0)


def _opened(path: Path) -> int:
    """The lock file, which every user of this machine may write, whoever came first.

    It is not created if it exists: in a directory that all may write, kernels refuse that for
    another user's file (fs.protected_regular). A file that can only be read can be locked as well.

    Raises:
        RuntimeUnavailableError: it can neither be made nor opened.
    """
    common = os.O_NOFOLLOW | os.O_CLOEXEC
    for flags in (os.O_RDWR, os.O_RDWR | os.O_CREAT | os.O_EXCL, os.O_RDWR, os.O_RDONLY):
        with contextlib.suppress(FileNotFoundError, FileExistsError, PermissionError):
            file = os.open(path, flags | common, 0o666)
            if flags & os.O_CREAT:
                os.fchmod(file, 0o666)  # whatever the umask is
            return file
    raise RuntimeUnavailableError(
        "this user may not open the lock that all users of this machine share",
        where=str(path),
        why=_owner(path),
        remedy=f"have its owner or root let all users write it: chmod 666 {path}",
    )


def _owner(path: Path) -> str:
    try:
        return f"it belongs to {path.owner()}, and others may not read it"
    except (OSError, KeyError):
        return "it cannot be made there, or belongs to a user without a name"


def _holder(content: bytes) -> str:
    try:
        facts = json.loads(content)
        return f"process {int(facts['pid'])} runs {facts['run']}"
    except (ValueError, KeyError, TypeError):
        return "a process that is just starting"
