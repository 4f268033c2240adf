"""Instructions per operation in user space, counted by valgrind's callgrind if it is installed.

Most virtual machines offer no hardware counters. callgrind counts the executed instructions by
simulation, with the same result on every machine. The count is the slope between a short and a long
run, so start-up drops out. Programs with a runtime of their own (Java, Go) are left out.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from tare.errors import LoadError

if TYPE_CHECKING:
    from pathlib import Path

    from bench.load.clients import Client

NATIVE = ("floor", "tare-load", "latte")
_SHORT_S, _LONG_S = 4, 16
_COLLECTED = re.compile(r"Collected\s*:\s*(\d+)")


def available() -> bool:
    """Whether there is a valgrind."""
    return shutil.which("valgrind") is not None


def per_operation(client: Client, cpus: str, scratch: Path) -> float:
    """Instructions per operation.

    Raises:
        LoadError: the client does not run under valgrind.
    """
    short, long = (_count(client, seconds, cpus, scratch) for seconds in (_SHORT_S, _LONG_S))
    if long[1] <= short[1]:
        raise LoadError(f"{client.name} did no more in {_LONG_S} s than in {_SHORT_S} s")
    return (long[0] - short[0]) / (long[1] - short[1])


def _count(client: Client, seconds: int, cpus: str, scratch: Path) -> tuple[int, int]:
    """Instructions and operations of one run."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        ["taskset", "-c", cpus, *valgrind, *client.read(seconds, scratch)],
        cwd=scratch,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    counted = _COLLECTED.search(done.stderr)
    if done.returncode != 0 or counted is None:
        raise LoadError(
            f"{client.name} does not run under valgrind",
            why=done.stderr[-1000:],
            remedy="leave --instructions out",
        )
    return int(counted[1]), client.said(done.stdout, scratch).operations
