"""Run another program to its end and keep what it said: its lines are the reason if it failed."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Ended:
    """What became of a program.

    Attributes:
        status: its exit status; None is that it had to be ended.
        lines: what it wrote to either stream, or that it did not end.
    """

    status: int | None
    lines: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, with status 0."""
        return self.status == 0

    def first(self, count: int) -> str:
        """Its first lines, where the reason of a compiler stands."""
        return "\n".join(self.lines[:count])

    def last(self, count: int) -> str:
        """Its last lines, where the reason of most programs stands."""
        return "\n".join(self.lines[-count:])


def run_to_end(
    command: Sequence[str],
    seconds: float,
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
) -> Ended:
    """Run a program without input.

    Args:
        command: the program and its arguments.
        seconds: after so long it is ended; a hang is no work.
        cwd: its working directory; None is this process's.
        env: its environment; None is this process's.

    Raises:
        OSError: it cannot be started.
    """
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=env,
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
