"""The hold on this machine's lab: one run at a time, and a refusal that says whose it is."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from pathlib import Path
from types import TracebackType

from tare.errors import LabBusyError


def default_path() -> Path:
    """A place that all users of this machine share."""
    lock = Path("/run/lock")
    return (lock if lock.is_dir() else Path(tempfile.gettempdir())) / "tare-lab.lock"


class Hold:
    """Held from `with Hold(run):` until the block ends, or the process does, however it dies."""

    def __init__(self, run: str, path: Path | None = None) -> None:
        self._run = run
        self._path = path or default_path()
        self._file = -1

    def __enter__(self) -> Hold:
        """Take the lab.

        Raises:
            LabBusyError: another process has it.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(self._path, flags, 0o666)
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
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, json.dumps({"pid": os.getpid(), "run": self._run}).encode(), 0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.ftruncate(self._file, 0)
        os.close(self._file)


def _holder(content: bytes) -> str:
    try:
        facts = json.loads(content)
        return f"process {int(facts['pid'])} runs {facts['run']}"
    except (ValueError, KeyError, TypeError):
        return "a process that is just starting"
