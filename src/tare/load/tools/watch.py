"""The CPU time of a running tool, seen from outside, thread by thread."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

EVERY_S = 1.0


@dataclass(frozen=True)
class Use:
    """CPU use over the measured part.

    Attributes:
        seconds: length of the time that was seen.
        cpu_s: user and system time of the process.
        busiest: largest share of a core that one thread used, 0 to 1.
        cpus: CPUs that it may run on.
    """

    seconds: float
    cpu_s: float
    busiest: float
    cpus: int

    @property
    def cores(self) -> float:
        """Cores that it used on average."""
        return self.cpu_s / self.seconds if self.seconds > 0 else 0.0


@dataclass
class _Seen:
    at: float
    cpu_s: float
    threads: dict[int, float] = field(default_factory=dict)


class ProcessWatch:
    """Reads once a second, from `begin` until the process has ended."""

    def __init__(self, pid: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._process = psutil.Process(pid)
        self._clock = clock
        self._first: _Seen | None = None
        self._last: _Seen | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """Start of the measured part."""
        self._first = self._last = self._poll()
        self._thread.start()

    def end(self) -> Use:
        """Use since `begin`: up to now, or to the last reading before the process ended."""
        self._ended.set()
        if self._first is None or self._last is None:
            return Use(0.0, 0.0, 0.0, len(os.sched_getaffinity(0)))
        self._thread.join()
        self._last = self._poll() or self._last
        seconds = self._last.at - self._first.at
        grown = [used - self._first.threads.get(t, 0.0) for t, used in self._last.threads.items()]
        busiest = max(grown, default=0.0) / seconds if seconds > 0 else 0.0
        return Use(
            seconds,
            self._last.cpu_s - self._first.cpu_s,
            min(busiest, 1.0),
            len(os.sched_getaffinity(0)),
        )

    def _run(self) -> None:
        while not self._ended.wait(EVERY_S):
            seen = self._poll()
            if seen is None:
                return
            self._last = seen

    def _poll(self) -> _Seen | None:
        with contextlib.suppress(psutil.Error):
            times = self._process.cpu_times()
            threads = {one.id: one.user_time + one.system_time for one in self._process.threads()}
            return _Seen(self._clock(), times.user + times.system, threads)
        return None
