"""The mark on everything that a Tare process starts: it identifies that process.

Process ids are reused, and anybody can use a name. Four values together identify one process: its
id, its start time, the boot of the machine, and the namespace of the process id (a container has
its own).
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

_MARK = re.compile(
    r"(?P<pid>[0-9]{1,10})-(?P<start>[0-9]{1,20})-(?P<boot>[0-9a-f]{12})-(?P<ids>[0-9]{1,20})"
)
_ON = "@"
RUN_VARIABLE = "TARE_RUN"
"""environment variable that labels every process with its run"""
STARTER_VARIABLE = "TARE_STARTER"
"""environment variable with the mark of the Tare process that started the process"""
LABEL = "tare.starter"
"""the label's name in an engine"""
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_ENDED = ("Z", "X")


def mark() -> str:
    """The mark for everything this process starts: digits, small letters and hyphens."""
    pid = os.getpid()
    return f"{pid}-{_started(pid)}-{_boot()}-{_ids()}"


def labels(run: str) -> dict[str, str]:
    """Environment variables that mark a process on this machine as started here for a run."""
    return {RUN_VARIABLE: run, STARTER_VARIABLE: mark()}


def without_owner(text: str) -> bool:
    """Whether this is a mark of this boot whose process has ended or is this one.

    False for a process in another container: its state cannot be seen from here.
    """
    told = _MARK.fullmatch(text)
    if told is None or (told["boot"], told["ids"]) != (_boot(), _ids()):
        return False
    pid = int(told["pid"])
    return pid == os.getpid() or _started(pid) != told["start"]


def label() -> str:
    """The mark with the machine's name, for an engine, which outlives a boot and may be shared."""
    return f"{mark()}{_ON}{platform.node()}"


def labelled_without_owner(text: str) -> bool:
    """Whether this label was made on this machine, by a process that has ended or by this
    one."""
    made_by, _, machine = text.partition(_ON)
    told = _MARK.fullmatch(made_by)
    if told is None or machine != platform.node():
        return False
    return told["boot"] != _boot() or without_owner(made_by)


def _started(pid: int) -> str:
    """When a process started, in the kernel's ticks since the boot; empty: it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in _ENDED else fields[19]


def _ids() -> str:
    """The namespace of process ids that this process is in."""
    return str(Path("/proc/self/ns/pid").stat().st_ino)


def _boot() -> str:
    return _BOOT.read_text(encoding="ascii").strip().replace("-", "")[:12]
