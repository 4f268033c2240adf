"""The CPU time of a process, thread by thread, so that it can be split by the threads' purpose.

The kernel counts each thread's time on a CPU in nanoseconds (/proc/PID/task/TID/schedstat, first
field; Documentation/scheduler/sched-stats.rst). Java gives its threads' names to the kernel, which
keeps 15 characters of them. So this needs no connection to the JVM, and works for a process in a
container like for any other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.machines.machine import HERE, Machine

NAME_LENGTH = 15
"""characters that the kernel keeps of a thread's name, prctl(2) PR_SET_NAME"""


@dataclass(frozen=True)
class Threads:
    """Thread id to (name, CPU seconds since the thread began), as of one moment."""

    found: Mapping[int, tuple[str, float]]


def read_threads(pid: int, proc: Path = Path("/proc"), machine: Machine = HERE) -> Threads:
    """All live threads of a process of a machine; empty where they cannot be seen."""
    found: dict[int, tuple[str, float]] = {}
    tasks = f"{proc}/{pid}/task/*"
    texts = machine.read(f"{tasks}/comm", f"{tasks}/schedstat")
    for path, name in texts.items():
        if path.endswith("/comm"):
            task = path.removesuffix("/comm")
            with contextlib.suppress(KeyError, ValueError, IndexError):  # it has just ended
                used = int(texts[f"{task}/schedstat"].split()[0])
                found[int(Path(task).name)] = name.rstrip("\n"), used / 1e9
    return Threads(found)


def recognised(threads: Threads, groups: Mapping[str, Sequence[str]]) -> bool:
    """Whether a thread belongs to a group. In a sandbox the kernel sees others than it holds."""
    beginnings = tuple(name[:NAME_LENGTH] for names in groups.values() for name in names)
    return any(name.startswith(beginnings) for name, _ in threads.found.values())


def grown(before: Threads, after: Threads, groups: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """CPU seconds that each group of threads used between two readings.

    A thread that began in between counts from its beginning. A thread that ended is no longer seen:
    its time is in no group.

    Args:
        groups: group to the beginnings of its threads' names, cut as the kernel cuts names. A
            thread belongs to the first group that fits.
    """
    prefixes = [(group, tuple(n[:NAME_LENGTH] for n in names)) for group, names in groups.items()]
    totals = dict.fromkeys(groups, 0.0)
    for thread, (name, seconds) in after.found.items():
        for group, beginnings in prefixes:
            if name.startswith(beginnings):
                used = before.found[thread][1] if thread in before.found else 0.0
                totals[group] += max(seconds - used, 0.0)
                break
    return totals
