"""CPU time used so far by servers, compiler, engine and machine, read at one moment."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from tare.runtimes.docker_engine import ENGINE_PROCESSES

if TYPE_CHECKING:
    from tare.lab.deployment import Deployment

_BUSY = ("user", "nice", "system", "irq", "softirq")
_ENGINE_NAMES = {name[:15] for name in ENGINE_PROCESSES}
"""the kernel cuts names of processes to 15 characters"""


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


def read_usage(deployment: Deployment, *, docker: bool) -> Usage:
    """CPU seconds as of now.

    Args:
        docker: the engine's processes count.
    """
    times = psutil.cpu_times()
    return Usage(
        servers=deployment.cpu_seconds(),
        compiler=deployment.compiler_seconds(),
        engine=_engine_cpu_seconds() if docker else 0.0,
        modes={mode: getattr(times, mode) for mode in (*_BUSY, "steal")},
    )


def grown(before: float | None, after: float | None) -> float | None:
    """The difference of two counts; None where one is unknown. Ended threads never make it < 0."""
    return None if before is None or after is None else max(after - before, 0.0)


def _engine_cpu_seconds() -> float:
    total = 0.0
    for process in psutil.process_iter(["name"]):
        if process.info["name"] in _ENGINE_NAMES:
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
    return total
