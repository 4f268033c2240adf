"""The pace of the servers' CPUs in slices: the same arithmetic, timed every two milliseconds.

Another guest of the hypervisor on the core's other hardware thread makes all work dearer, and no
counter of this machine shows it. A microsecond of arithmetic in registers does
(docs/decisions/0024-pace.md).
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tare.machines import cgroups
from tare.monitor.probe import await_end, close_pipes, start_probe, tell
from tare.study.quantities import cpus_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

INTERVAL_S = 0.002
"""A sample takes a microsecond, and waking up for it some 30 of a virtual machine's CPU: 1.5%."""
MOST_CPUS = 8
"""One process each; with more, the wake-ups would take too much CPU time themselves."""
LEAST_SAMPLES = 4
"""of a slice"""
LONGEST = 3.0
"""Times the median: a longer sample was interrupted, or its CPU was taken away."""
_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def why_not(cpus: Collection[int], siblings: str = _SIBLINGS) -> str:
    """Why the pace of these CPUs would tell nothing, or too much; empty: it can be taken.

    Args:
        siblings: path of the list of a core's hardware threads, by CPU.
    """
    if len(cpus) > MOST_CPUS:
        return f"the servers may run on {len(cpus)} CPUs, more than {MOST_CPUS}"
    for cpu in sorted(cpus):
        with contextlib.suppress(OSError, ValueError):
            threads = cpus_of(Path(siblings.format(cpu)).read_text(encoding="ascii").strip())
            if len(threads) > 1:
                return (
                    f"CPU {cpu} shares its core with CPU {min(threads - {cpu})} of this machine, "
                    "so that what is measured would change its pace"
                )
    return ""


class Pace:
    """One tare-probe on each of some CPUs, before everything else there.

    Attributes:
        why_not: why no pace is taken; empty: it is taken.
        pids: of the processes; their CPU time is Tare's own.
    """

    def __init__(self, run: str, cpus: Collection[int], directory: Path) -> None:
        """Begin.

        Args:
            directory: for one file of each process while it runs.
        """
        self.why_not = why_not(cpus)
        self._files = [directory / f"pace-{cpu}" for cpu in sorted(cpus)]
        self._processes: list[subprocess.Popen[bytes]] = []
        if self.why_not:
            return
        try:
            for cpu, file in zip(sorted(cpus), self._files, strict=True):
                self._processes.append(_start(run, cpu, file))
        except OSError as error:
            self.stop()
            self.why_not = f"its program may not run before everything else: {error.strerror}"

    @property
    def pids(self) -> list[int]:
        return [one.pid for one in self._processes]

    def stop(self) -> PaceSamples:
        """End; everything that was sampled."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            await_end(process)
            close_pipes(process)
        self._processes.clear()
        rows = [read_rows(file) for file in self._files]
        for file in self._files:
            file.unlink(missing_ok=True)
        return PaceSamples(rows)


def _start(run: str, cpu: int, file: Path) -> subprocess.Popen[bytes]:
    process = start_probe(run)
    try:
        os.sched_setaffinity(process.pid, {cpu})
        _put_first(process.pid)
        # if the process has died, there are no samples
        tell(process, {"interval_s": INTERVAL_S, "pace": str(file)})
    except OSError:
        process.kill()
        process.wait()
        raise
    return process


def _put_first(pid: int) -> None:
    """Let a process run before every task that is not real-time.

    Raises:
        OSError: it may not.
    """
    first = os.sched_param(1)
    try:
        os.sched_setscheduler(pid, os.SCHED_FIFO, first)
    except PermissionError:  # Tare may be in a container, whose group has no real time
        with contextlib.suppress(OSError):
            cgroups.to_top(pid)
        os.sched_setscheduler(pid, os.SCHED_FIFO, first)


def read_rows(file: Path) -> NDArray[np.float64]:
    """Samples of a CPU as tare-probe writes them, shape (samples, 2): Unix time in seconds, and
    nanoseconds of the arithmetic."""
    try:
        data = file.read_bytes()
    except OSError:
        data = b""
    return np.frombuffer(data[: len(data) // 16 * 16], dtype="<f8").reshape(-1, 2)


class PaceSamples:
    """The samples of all CPUs, to be looked up by time."""

    def __init__(self, rows: Sequence[NDArray[np.float64]]) -> None:
        self._rows = [
            np.column_stack([one[:, 0], np.log(np.clip(one[:, 1], 1.0, _longest(one)))])
            for one in rows
            if len(one)
        ]

    def mean(self, begins: float, seconds: float) -> float | None:
        """Mean log of the nanoseconds in a time, over all CPUs; None: too few samples.

        Args:
            begins: Unix time.
        """
        found = [
            one[slice(*np.searchsorted(one[:, 0], [begins, begins + seconds])), 1]
            for one in self._rows
        ]
        if not found or min(map(len, found)) < LEAST_SAMPLES:
            return None
        return float(np.mean([one.mean() for one in found]))


NO_SAMPLES = PaceSamples(())


def _longest(rows: NDArray[np.float64]) -> float:
    return LONGEST * float(np.median(rows[:, 1]))
