"""CPU time used so far by servers, compiler, engine and machine, read at one moment."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from tare.machines.machine import HERE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from tare.lab.deployment import Deployment
    from tare.machines.cgroups import Accounting
    from tare.machines.machine import Machine

_BUSY = ("user", "nice", "system", "irq", "softirq")
_PLACES = {"user": 1, "nice": 2, "system": 3, "irq": 6, "softirq": 7, "steal": 8}
"""fields of the first line of /proc/stat, proc(5)"""
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


def read_usage(
    deployment: Deployment, engine: Collection[str], machines: Sequence[Machine] = (HERE,)
) -> Usage:
    """CPU seconds as of now.

    Args:
        machines: all that take part. Their busy seconds are added up, once per kernel; this
            machine's already contain those of virtual machines that were made here.
        engine: names of processes that count as the engine.
    """
    modes: dict[str, float] = dict.fromkeys((*_BUSY, "steal"), 0.0)
    outside = [one for one in machines if not one.inside_here] or [HERE]
    kernels = {one.boot or one.name: one for one in outside}
    for machine in kernels.values():
        for mode, seconds in _modes(machine).items():
            modes[mode] += seconds
    return Usage(
        servers=deployment.cpu_seconds(),
        compiler=deployment.compiler_seconds(),
        engine=sum(_engine_seconds(one, engine) for one in machines) if engine else 0.0,
        modes=modes,
    )


def machines_of(accountings: Iterable[Accounting]) -> tuple[Machine, ...]:
    """The machines on which these units run, each once."""
    return tuple({one.machine.name: one.machine for one in accountings}.values()) or (HERE,)


def one_kernel(machines: Iterable[Machine]) -> list[str]:
    """Notes on hosts that are one machine under several names."""
    names: dict[str, list[str]] = {}
    for machine in machines:
        if machine.boot:
            names.setdefault(machine.boot, []).append(machine.name)
    return [
        f"{', '.join(own)} are one machine: its CPUs are shared, its disks and network are counted "
        f"{len(own)} times, and no network is between them"
        for own in names.values()
        if len(own) > 1
    ]


def _modes(machine: Machine) -> dict[str, float]:
    """CPU seconds of a machine since its start, by the kernel's modes."""
    if machine is HERE:
        times = psutil.cpu_times()
        return {mode: getattr(times, mode) for mode in (*_BUSY, "steal")}
    first = machine.read("/proc/stat").get("/proc/stat", "").partition("\n")[0].split()
    return {mode: int(first[place]) / machine.ticks for mode, place in _PLACES.items()}


def grown(before: float | None, after: float | None) -> float | None:
    """The difference of two counts; None if one is unknown; never below 0 if threads ended."""
    return None if before is None or after is None else max(after - before, 0.0)


def _engine_seconds(machine: Machine, names: Collection[str]) -> float:
    """CPU seconds of a machine's processes of these names."""
    if machine is HERE:
        return _cpu_seconds_of(names)
    cut = {name[:_NAME_LENGTH] for name in names}
    total = 0
    for text in machine.read("/proc/[0-9]*/stat").values():
        name, _, rest = text.rpartition(")")
        if name.partition("(")[2] in cut:
            fields = rest.split()
            total += int(fields[11]) + int(fields[12])
    return total / machine.ticks


def _cpu_seconds_of(names: Collection[str]) -> float:
    cut = {name[:_NAME_LENGTH] for name in names}
    total = 0.0
    for process in psutil.process_iter(["name"]):
        if process.info["name"] in cut:
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
    return total
