"""Keeps idle CPUs polling instead of halting while something is measured."""

from __future__ import annotations

import os
import struct
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LATENCY = Path("/dev/cpu_dma_latency")
"""The kernel's request for a wake-up latency (Documentation/power/pm_qos_interface.rst): a process
that writes 0 microseconds there keeps all CPUs from halting while it holds the file open. When it
ends, however it ends, the kernel drops the request."""
DRIVER = Path("/sys/devices/system/cpu/cpuidle/current_driver")
"""The driver that obeys the request. Virtual machines often have none; then an idle CPU halts all
the same."""

NO_LATENCY = struct.pack("=i", 0)


def why_not(device: Path = LATENCY, driver: Path = DRIVER) -> str:
    """Why idle CPUs cannot be kept polling here; empty when they can."""
    try:
        os.close(os.open(device, os.O_WRONLY | os.O_CLOEXEC))
    except OSError as error:
        return f"{device}: {error.strerror}"
    try:
        name = driver.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        name = "none"
    return "the kernel has no cpuidle driver here" if name == "none" else ""


@contextmanager
def awake(device: Path = LATENCY, driver: Path = DRIVER) -> Iterator[str]:
    """Idle CPUs poll inside of this context.

    Yields:
        An empty text, or why they halt as usual; that is no error, because a measurement is still
        possible.
    """
    reason = why_not(device, driver)
    if reason:
        yield reason
        return
    held = os.open(device, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(held, NO_LATENCY)
        yield ""
    finally:
        os.close(held)


def idle_cpus(why_not: str) -> str:
    """What idle CPUs do, for the records: poll; or halt, and why."""
    return f"halt ({why_not})" if why_not else "poll"
