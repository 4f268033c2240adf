"""Whether this machine is quiet: the CPU time that other programs take right now."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import psutil

BUSY_CORES = 0.1
"""cores used by others above which they disturb a measurement here: 5% of a machine of two"""
SAMPLE_S = 0.5
_NAMED = 3
"""busiest programs that are named"""


@dataclass(frozen=True)
class BackgroundLoad:
    """CPU time that other programs took while they were watched.

    Attributes:
        cores: use of all but this process and the kernel's own work, in cores.
        stolen: share of the machine's CPU time that a hypervisor took.
        busiest: the busiest programs, "name (process id): cores".
    """

    cores: float
    stolen: float
    busiest: tuple[str, ...] = ()

    @property
    def disturb(self) -> bool:
        return self.cores > BUSY_CORES

    def __str__(self) -> str:
        named = f" ({', '.join(self.busiest)})" if self.busiest else ""
        stolen = f"; the hypervisor takes {self.stolen:.0%}" if self.stolen >= 0.005 else ""
        return f"other programs use {self.cores:.1f} cores{named}{stolen}"


def sample(
    seconds: float = SAMPLE_S,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> BackgroundLoad:
    """Watch the machine for a moment, in which this process does nothing else."""
    return BackgroundSample(clock).end(seconds, wait)


class BackgroundSample:
    """A sample that has begun; the caller can do other work until its end.

    CPU time of this process is not counted; that of others on its behalf is.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._before, self._steal, self._began = _used(), psutil.cpu_times(), clock()

    def end(
        self, seconds: float = SAMPLE_S, wait: Callable[[float], None] = time.sleep
    ) -> BackgroundLoad:
        """What was seen over at least this many seconds."""
        wait(max(self._began + seconds - self._clock(), 0.0))
        after, now = _used(), psutil.cpu_times()
        passed = self._clock() - self._began
        return others(self._before, after, passed, _steal_share(self._steal, now))


Used = Mapping[int, tuple[str, float]]
"""Process id to its name and the CPU seconds that it has used."""


def others(before: Used, after: Used, seconds: float, stolen: float) -> BackgroundLoad:
    """What other processes took between two readings.

    A process that began in between counts with all its CPU time.
    """
    took: dict[int, tuple[str, float]] = {}
    for pid, (name, used) in after.items():
        earlier = before.get(pid, (name, 0.0))[1]
        if pid != os.getpid() and used > earlier:
            took[pid] = name, (used - earlier) / seconds
    ranked = sorted(took.items(), key=lambda one: -one[1][1])[:_NAMED]
    named = tuple(f"{name} ({pid}): {cores:.1f}" for pid, (name, cores) in ranked if cores >= 0.05)
    return BackgroundLoad(sum(cores for _, cores in took.values()), stolen, named)


def _used() -> dict[int, tuple[str, float]]:
    found: dict[int, tuple[str, float]] = {}
    for process in psutil.process_iter(["name", "cpu_times"]):
        times = process.info["cpu_times"]
        if times is not None:
            found[process.pid] = str(process.info["name"]), times.user + times.system
    return found


def _steal_share(before: tuple[float, ...], after: tuple[float, ...]) -> float:
    """The hypervisor's share of the CPU time between two readings of psutil.cpu_times()."""
    whole = sum(after) - sum(before)
    steal = getattr(after, "steal", 0.0) - getattr(before, "steal", 0.0)
    return steal / whole if whole > 0 else 0.0
