"""Finds other programs, runs them to the end, and keeps their output: why one failed."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def find_program(name: str, why: str, remedy: str, called: str = "") -> str:
    """Path of a program of this machine.

    Args:
        why: what it is needed for.
        remedy: how to install it.
        called: its name in errors, if another.

    Raises:
        RuntimeUnavailableError: it is not there.
    """
    found = shutil.which(name)
    if found is None:
        raise RuntimeUnavailableError(f"{called or name} is missing", why=why, remedy=remedy)
    return found


@dataclass(frozen=True)
class Ended:
    """How a program ended.

    Attributes:
        status: its exit status; None: it had to be killed.
        lines: its output on both streams, or a line that says that it did not end.
    """

    status: int | None
    lines: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, with status 0."""
        return self.status == 0

    def first(self, count: int) -> str:
        """Its first lines, where a compiler states the reason."""
        return "\n".join(self.lines[:count])

    def last(self, count: int) -> str:
        """Its last lines, where most programs state the reason."""
        return "\n".join(self.lines[-count:])


def run_to_end(
    command: Sequence[str],
    seconds: float,
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    open_files: Sequence[int] = (),
) -> Ended:
    """Run a program without input.

    Args:
        command: the program and its arguments.
        seconds: timeout, after which it is killed.
        cwd: its working directory; None is this process's.
        env: its environment; None is this process's.
        open_files: file descriptors that it inherits.

    Raises:
        OSError: it cannot be started.
    """
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=env,
            pass_fds=open_files,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ended(None, (f"no end after {seconds:g} s",))
    return Ended(done.returncode, tuple(done.stdout.splitlines()))
