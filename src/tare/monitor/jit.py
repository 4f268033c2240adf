"""The CPU time of a Java process's compiler threads, which is not yet a server's useful work.

HotSpot names its just-in-time compiler threads "C1 CompilerThread0", "C2 CompilerThread0" and so
on; the kernel keeps the first 15 characters. They are threads of the process, so their time is in
/proc/PID/task/TID/stat, on every platform alike. It needs no connection to the JVM.
"""

from __future__ import annotations

from pathlib import Path

from tare.machines.machine import HERE, Machine

_NAMES = ("C1 CompilerThre", "C2 CompilerThre")
_UTIME, _STIME = 11, 12
"""fields of /proc/PID/stat after the command name, proc(5)"""


def compiler_seconds(pid: int, proc: Path = Path("/proc"), machine: Machine = HERE) -> float | None:
    """CPU seconds of the live compiler threads of a process; None where none can be seen.

    Args:
        pid: of the process on its machine.
        proc: where the kernel shows processes.
        machine: the machine of the process.
    """
    total, seen = 0.0, False
    for text in machine.read(f"{proc}/{pid}/task/*/stat").values():
        name, _, rest = text.rpartition(")")
        if name.partition("(")[2] in _NAMES:
            fields = rest.split()
            total += (int(fields[_UTIME]) + int(fields[_STIME])) / machine.ticks
            seen = True
    return total if seen else None
