"""CPU time used so far by servers, compiler, engine and machine, read at one moment."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Collection

    from tare.lab.deployment import Deployment

_BUSY = ("user", "nice", "system", "irq", "softirq")
_NAME_LENGTH = 15
"""characters that the kernel keeps of a process's name"""


@dataclass(frozen=True)
class Usage:
    """CPU seconds used so far, read at one moment."""

    servers: float
    compiler: float | None
    engine: float
    modes: dict[str, float]

    @property
    def machine(self) -> float:
        """Busy CPU seconds of the whole machine."""
        return sum(self.modes[mode] for mode in _BUSY)


def read_usage(deployment: Deployment, engine: Collection[str]) -> Usage:
    """CPU seconds as of now.

    Args:
        engine: names of processes that count as the engine.
    """
    times = psutil.cpu_times()
    return Usage(
        servers=deployment.cpu_seconds(),
        compiler=deployment.compiler_seconds(),
        engine=_cpu_seconds_of(engine) if engine else 0.0,
        modes={mode: getattr(times, mode) for mode in (*_BUSY, "steal")},
    )


def grown(before: float | None, after: float | None) -> float | None:
    """The difference of two counts; None where one is unknown. Ended threads never make it < 0."""
    return None if before is None or after is None else max(after - before, 0.0)


def _cpu_seconds_of(names: Collection[str]) -> float:
    cut = {name[:_NAME_LENGTH] for name in names}
    total = 0.0
    for process in psutil.process_iter(["name"]):
        if process.info["name"] in cut:
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
    return total
