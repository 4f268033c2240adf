"""System calls of units' processes, by kind, while a block warms up.

The kernel counts them for each thread at the tracepoint raw_syscalls:sys_enter. That makes calls
dearer. So they are counted in warm-up slices only, whose CPU time is not used; counting ends
before the first measured slice (docs/decisions/0026-counts.md).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import resource
from pathlib import Path
from typing import TYPE_CHECKING

from tare.monitor import perf_events
from tare.monitor.process_counts import processes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tare.machines.cgroups import Accounting

CALLS = "calls"
"""calls of all kinds"""
KINDS = ("futex", "epoll", "read", "write", "sendmsg", "sync")
"""Kinds that `tare weigh --what system,storage` has a price for."""
_NUMBERS: Mapping[str, Mapping[str, tuple[int, ...]]] = {
    "x86_64": {
        "futex": (202, 449, 454, 455),
        "epoll": (232, 281, 441),
        "read": (0, 17, 19, 45, 47, 295, 299, 327),
        "write": (1, 18, 44),
        "sendmsg": (20, 46, 296, 307, 328),
        "sync": (74, 75),
    },
    "aarch64": {
        "futex": (98, 449, 454, 455),
        "epoll": (22, 441),
        "read": (63, 65, 67, 69, 207, 212, 243, 286),
        "write": (64, 68, 206),
        "sendmsg": (66, 70, 211, 269, 287),
        "sync": (82, 83),
    },
}
"""Kind to the numbers of its calls, by machine. Source: arch/x86/entry/syscalls/syscall_64.tbl and
scripts/syscall.tbl of Linux 6.18. futex, futex_waitv, futex_wake, futex_wait; epoll_wait,
epoll_pwait, epoll_pwait2; read, pread64, readv, recvfrom, recvmsg, preadv, recvmmsg, preadv2;
write, pwrite64, sendto; writev, sendmsg, pwritev, sendmmsg, pwritev2; fsync, fdatasync."""
MOST_THREADS = 4000
"""Of all units: each thread needs one descriptor per kind, and one more."""
_SPARE = 256
"""descriptors that are open for a moment"""
_LEFT = 512
"""descriptors that are left to everything else"""


class CallCounters:
    """Counts the system calls of units, each by its first process, until it is closed.

    Attributes:
        why_not: why it counts none; empty: it counts, or has counted.
    """

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self.why_not = ""
        self._events: dict[int, list[dict[str, int]]] = {}
        self._before: dict[int, dict[str, int]] = {}
        self._filters: dict[str, str] = {}
        self._threads = 0
        kinds = _NUMBERS.get(platform.machine())
        if kinds is None:
            self.why_not = f"the numbers of system calls on {platform.machine()} are not known here"
            return
        self._filters = {CALLS: ""} | {
            kind: "||".join(f"id=={number}" for number in numbers)
            for kind, numbers in kinds.items()
        }
        try:
            self._tracepoint = perf_events.tracepoint("raw_syscalls/sys_enter")
        except OSError as error:
            self._give_up(error)

    def add(self, units: Sequence[Accounting]) -> None:
        """Count the calls of these units, too."""
        for unit in units:
            if self.why_not or unit.pid in self._events:
                continue
            threads = [thread for pid in processes_of(unit) for thread in _threads(pid)]
            self._threads += len(threads)
            if self._threads > MOST_THREADS:
                self._give_up(OSError(f"servers and clients have {self._threads} threads"))
                continue
            own = self._events[unit.pid] = []
            try:
                with _descriptors(self._threads * len(self._filters) + _SPARE) as first:
                    for thread in threads:
                        self._count(thread, own, first)
            except OSError as error:
                self._give_up(error)

    def take(self, units: Mapping[str, Sequence[Accounting]]) -> dict[str, dict[str, int]]:
        """Unit to its calls of each kind since the last reading; empty where none are counted."""
        found = {}
        for name, group in units.items():
            events = [one for unit in group for one in self._events.get(unit.pid, ())]
            if not events:
                return {}
            now = {
                kind: sum(perf_events.counted(one[kind]) for one in events)
                for kind in self._filters
            }
            key = group[0].pid
            before = self._before.get(key, {})
            self._before[key] = now
            found[name] = {kind: value - before.get(kind, 0) for kind, value in now.items()}
        return found

    def close(self) -> None:
        """Stop counting, so that it makes no call on this machine dearer any more."""
        for events in self._events.values():
            for one in events:
                for descriptor in one.values():
                    os.close(descriptor)
        self._events.clear()

    def _count(self, thread: int, own: list[dict[str, int]], first: int) -> None:
        """Count the calls of a thread; one that has ended is left out.

        Args:
            first: the lowest number of a descriptor that is kept.
        """
        opened: dict[str, int] = {}
        own.append(opened)
        try:
            for kind, only in self._filters.items():
                descriptor = perf_events.count(thread, self._tracepoint, only)
                try:
                    opened[kind] = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, first)
                finally:
                    os.close(descriptor)
        except ProcessLookupError:
            for descriptor in own.pop().values():
                os.close(descriptor)

    def _give_up(self, error: OSError) -> None:
        self.close()
        self.why_not = f"the kernel counts no system calls for it: {error.strerror or error}"


def _threads(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(one.name) for one in Path(f"/proc/{pid}/task").iterdir()]
    return []


@contextlib.contextmanager
def _descriptors(needed: int) -> Iterator[int]:
    """Make room for this many descriptors; gives the number of the first one.

    They stay open. They lie beyond the limit if it may be raised, else at its upper end. The
    numbers below are left to everything else.

    Raises:
        OSError: the limit leaves too few to everything else.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = hard if hard != resource.RLIM_INFINITY else soft + needed
    allowed = min(soft + needed, most)
    first = allowed - needed
    if first < _LEFT:
        raise OSError(f"it takes {needed} open files, of {most} that are allowed (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    try:
        yield first
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
