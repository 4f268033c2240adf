"""Warns before a measurement that other programs are running on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.monitor.background_load import BackgroundSample
from tare.report import numbers

if TYPE_CHECKING:
    from tare.cli.console import Terminal

STOP_THEM = "stop them before you measure: whatever else runs is measured too"
STOOD_STILL = "nothing was answered for {gap_s:.2g} s: let nothing stop a server or its client"


def disturbance(steal: float, cores: float) -> str:
    """CPU time that a hypervisor (a share) and other programs (cores) took from a measurement."""
    taken = f"the hypervisor took {numbers.share(steal)} of the CPU time"
    return f"{taken}; other programs used {cores:.2g} cores"


def warn_if_busy(console: Terminal, begun: BackgroundSample | None = None) -> None:
    """Print what would disturb a measurement now; nothing if the machine is quiet.

    Args:
        begun: a running sample; None: one starts now.
    """
    seen = (begun or BackgroundSample()).end()
    if seen.disturb:
        console.print(f"note: {seen}; {STOP_THEM}")
