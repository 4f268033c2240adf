"""The kernel's counts of units' processes: switches, faults, bytes.

Three reads for each process take some tens of microseconds together, so that they are made at both
ends of every slice. The kernel adds up the counts of a process's threads.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tare.monitor.switches import Switches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tare.machines.cgroups import Accounting

SERVER, CLIENT = "server", "client"
ROLES = (SERVER, CLIENT)
SWITCHED, FAULTS, READ, WRITTEN, THREADS = (
    "switches",
    "faults",
    "read_bytes",
    "written_bytes",
    "threads",
)
"""Context switches; page faults that read nothing from a disk; bytes that were read from and
written to storage; and the number of live threads, which is not a count. If it falls, the switches
of ended threads have left the sum."""
MOST_PROCESSES = 8
"""of a role: with more, a reading would take milliseconds"""
_FAULTS_AT, _THREADS_AT = 7, 17
"""fields of /proc/PID/stat after the command name, proc(5): minflt, num_threads"""
_IO = {"read_bytes": READ, "write_bytes": WRITTEN}
_PROCESSES = "cgroup.procs"


class ProcessCounts:
    """Sums of the counts of a role's processes, which are found anew after `forget`."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._switches: Switches | None = None
        self._found: dict[tuple[int, ...], list[int]] = {}

    def read(
        self,
        units: Mapping[str, Sequence[Accounting]],
        servers: Sequence[Accounting],
        text: Callable[[str], str],
    ) -> dict[str, int]:
        """ROLE_COUNT of each role that has processes; counts that cannot be read are left out.

        Args:
            units: all units to read, by name; all but the servers are clients.
            text: reads a file, which may be kept open.
        """
        pids = {one.pid for one in servers}
        every = [one for group in units.values() for one in group]
        found: dict[str, int] = {}
        for role, own in (
            (SERVER, [one for one in every if one.pid in pids]),
            (CLIENT, [one for one in every if one.pid not in pids]),
        ):
            counts = self._of(self._processes(own), text)
            found |= {f"{role}_{name}": value for name, value in counts.items()}
        return found

    def forget(self) -> None:
        """Forget which processes there are."""
        self._found.clear()

    def close(self) -> None:
        if self._switches is not None:
            self._switches.close()
            self._switches = None

    def _processes(self, units: Sequence[Accounting]) -> list[int]:
        """Processes of all these units; none if one unit's processes are not known here.

        Without them the sum would cover fewer processes than the operations do.
        """
        key = tuple(one.pid for one in units)
        if key not in self._found:
            each = [processes_of(one) for one in units]
            self._found[key] = [pid for own in each for pid in own] if all(each) else []
        return self._found[key]

    def _of(self, pids: Sequence[int], text: Callable[[str], str]) -> dict[str, int]:
        if not 0 < len(pids) <= MOST_PROCESSES:
            return {}
        each = [self._of_process(pid, text) for pid in pids]
        common = set.intersection(*(set(one) for one in each))
        return {name: sum(one[name] for one in each) for name in sorted(common)}

    def _of_process(self, pid: int, text: Callable[[str], str]) -> dict[str, int]:
        found: dict[str, int] = {}
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = text(f"{self._proc}/{pid}/stat").rpartition(")")[2].split()
            found |= {FAULTS: int(fields[_FAULTS_AT]), THREADS: int(fields[_THREADS_AT])}
        with contextlib.suppress(OSError, ValueError):
            found |= io_counts(text(f"{self._proc}/{pid}/io"))
        if self._switches is None:
            self._switches = Switches()
        # read by the id, which may be another process's once the open file shows this one's end
        if THREADS in found and (switched := self._switches.of(pid)) is not None:
            found[SWITCHED] = switched
        return found


def io_counts(told: str) -> dict[str, int]:
    """Bytes to and from storage, from /proc/PID/io, proc(5)."""
    lines = (line.partition(": ") for line in told.splitlines())
    return {_IO[name]: int(value) for name, _, value in lines if name in _IO}


def processes_of(unit: Accounting) -> list[int]:
    """Processes of a unit's control group and of groups below it; without one, known processes."""
    for directory in unit.paths.values():
        found = sorted({pid for file in _files(Path(directory)) for pid in _numbers(file)})
        if found:
            return found
    return list(unit.pids)


def _files(group: Path) -> Iterable[Path]:
    for directory, _, names in os.walk(group):
        if _PROCESSES in names:
            yield Path(directory) / _PROCESSES


def _numbers(file: Path) -> list[int]:
    try:
        return [int(line) for line in file.read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return []
