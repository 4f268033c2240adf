"""Counts tracepoints of the kernel thread by thread: perf_event_open(2).

A tracepoint that anybody counts makes every system call of the machine dearer, until its last
counter is closed.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import struct
import subprocess
from pathlib import Path

_TRACEPOINT = 2
"""PERF_TYPE_TRACEPOINT of include/uapi/linux/perf_event.h"""
_DISABLED, _INHERITED = 1 << 0, 1 << 1
_ATTRIBUTES = struct.Struct("=IIQQQQQ64x")
"""struct perf_event_attr of version 5: type, size, config, period, what is sampled, what a reading
holds, flags; the rest is 0"""
_SET_FILTER, _ENABLE = 0x40082406, 0x2400
"""PERF_EVENT_IOC_SET_FILTER and PERF_EVENT_IOC_ENABLE there"""
_CLOSES_WITH_EXEC = 1 << 3
_ANY_CPU, _NO_GROUP = -1, -1
_OPEN = {"x86_64": 298, "aarch64": 241}
"""number of perf_event_open, by machine"""
_TRACING = Path("/sys/kernel/tracing")
_PLACES = (_TRACING, Path("/sys/kernel/debug/tracing"))
_MOUNT_S = 10.0
_LIBRARY = ctypes.CDLL(None, use_errno=True)


def tracepoint(name: str) -> int:
    """The kernel's number of a tracepoint, GROUP/EVENT.

    If tracefs is not mounted, it is mounted for a moment, in a mount namespace of its own.

    Raises:
        OSError: it cannot be read.
    """
    for place in _PLACES:
        file = place / "events" / name / "id"
        if file.exists():
            return int(file.read_text(encoding="ascii"))
    look = f"mount -t tracefs nodev {_TRACING} && cat {_TRACING}/events/{name}/id"
    try:
        told = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", look],
            capture_output=True, text=True, check=False, timeout=_MOUNT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise OSError("tracefs cannot be looked into: it does not answer") from error
    if told.returncode != 0 or not told.stdout.strip().isdecimal():
        raise OSError(f"tracefs cannot be looked into: {told.stderr.strip()}")
    return int(told.stdout)


def count(thread: int, tracepoint_id: int, only: str) -> int:
    """Begin to count a tracepoint of a thread and of threads that it starts from now on.

    Gives the descriptor to read and to close.

    Args:
        only: the kernel's filter, such as ``id==202``; empty: every time.

    Raises:
        OSError: the kernel refuses.
    """
    number = _OPEN.get(platform.machine())
    if number is None:
        raise OSError(f"perf_event_open has no number known here on {platform.machine()}")
    flags = _DISABLED | _INHERITED
    attributes = _ATTRIBUTES.pack(_TRACEPOINT, _ATTRIBUTES.size, tracepoint_id, 0, 0, 0, flags)
    descriptor = _LIBRARY.syscall(
        ctypes.c_long(number), ctypes.c_char_p(attributes), ctypes.c_int(thread),
        ctypes.c_int(_ANY_CPU), ctypes.c_int(_NO_GROUP), ctypes.c_ulong(_CLOSES_WITH_EXEC),
    )  # fmt: skip
    if descriptor < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    try:
        if only:
            fcntl.ioctl(descriptor, _SET_FILTER, only.encode() + b"\0")
        fcntl.ioctl(descriptor, _ENABLE, 0)
    except OSError:
        os.close(descriptor)
        raise
    return int(descriptor)


def counted(descriptor: int) -> int:
    """The count so far."""
    return int.from_bytes(os.read(descriptor, 8), "little")
