"""The mark of what a Tare process started: names that process, as nothing else does by chance.

A process id comes again, and a name can be anybody's. The id, when that process started, and the
boot of the machine together are had by one process alone.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_MARK = re.compile(r"(?P<pid>[0-9]{1,10})-(?P<start>[0-9]{1,20})-(?P<boot>[0-9a-f]{12})")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_ENDED = ("Z", "X")


def mark() -> str:
    """The mark of what this process starts: digits, small letters and hyphens."""
    pid = os.getpid()
    return f"{pid}-{_started(pid)}-{_boot()}"


def without_owner(text: str) -> bool:
    """Whether this is a mark of this boot, and who made it has ended, or is this process."""
    told = _MARK.fullmatch(text)
    if told is None or told["boot"] != _boot():
        return False
    pid = int(told["pid"])
    return pid == os.getpid() or _started(pid) != told["start"]


def _started(pid: int) -> str:
    """When a process started, in the kernel's ticks since the boot; empty: it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in _ENDED else fields[19]


def _boot() -> str:
    return _BOOT.read_text(encoding="ascii").strip().replace("-", "")[:12]
