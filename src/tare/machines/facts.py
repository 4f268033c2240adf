"""Facts of this machine: processors, memory, disk, kernel and privileges."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Disk:
    """A file system, and a directory on it.

    Attributes:
        device: its number, which shows whether two directories share it.
        free: bytes.
    """

    place: str
    device: int
    free: int


@dataclass(frozen=True)
class MachineFacts:
    """Facts of one machine that decide what can run and how it compares."""

    cpus: int
    """logical processors that this process may use"""
    memory_bytes: int
    memory_available: int
    """bytes that new processes can have without swapping"""
    disk_free: int
    """bytes free on the file system that holds the runs"""
    root: bool
    hostname: str
    kernel: str
    cpu_model: str
    clock_source: str
    transparent_huge_pages: str
    virtualization: str
    """what /proc/cpuinfo and DMI tell of a hypervisor; empty on bare metal"""
    engine_disks: Mapping[str, Disk] = field(default_factory=dict)
    """runtime to where its engine keeps its data, if that is not the runs' own file system"""

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def hardware(model: str, cpus: str, memory_bytes: int, hypervisor: str) -> dict[str, str]:
    """A machine as seen from inside, in the words by which machines are compared.

    Args:
        model: of its CPUs.
        cpus: how many it has; empty, like any other: unknown.
        hypervisor: below it; none on bare metal.
    """
    return {
        "CPU model": model,
        "CPUs": cpus,
        "memory": f"{memory_bytes / 2**30:.1f} GiB" if memory_bytes else "",
        "hypervisor": hypervisor,
    }


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _cpu_model() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _virtualization() -> str:
    vendor = _read("/sys/class/dmi/id/sys_vendor")
    hypervisor = any(
        "hypervisor" in line.split()
        for line in _read("/proc/cpuinfo").splitlines()
        if line.startswith("flags")
    )
    return (vendor or "a hypervisor") if hypervisor else ""


def local_facts(
    where: Path | None = None, engines: Mapping[str, Path] | None = None
) -> MachineFacts:
    """Read this machine's facts.

    Args:
        where: a directory on the file system that the runs will use; here by default.
        engines: runtime to where an engine of this machine keeps its data.
    """
    spot = (where or Path.cwd()).absolute()
    while not spot.exists():
        spot = spot.parent
    memory = psutil.virtual_memory()
    return MachineFacts(
        cpus=len(os.sched_getaffinity(0)),
        memory_bytes=memory.total,
        memory_available=memory.available,
        disk_free=shutil.disk_usage(spot).free,
        root=os.geteuid() == 0,
        hostname=platform.node(),
        kernel=platform.release(),
        cpu_model=_cpu_model(),
        clock_source=_read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        transparent_huge_pages=_read("/sys/kernel/mm/transparent_hugepage/enabled"),
        virtualization=_virtualization(),
        engine_disks={
            runtime: Disk(str(store), store.stat().st_dev, shutil.disk_usage(store).free)
            for runtime, store in (engines or {}).items()
            if store.exists() and store.stat().st_dev != spot.stat().st_dev
        },
    )


def file_system(path: Path) -> str:
    """The type of the file system that holds `path`, e.g. "ext4"; "unknown" if not found."""
    best, kind = "", "unknown"
    target = str(path.absolute())
    for part in psutil.disk_partitions(all=True):
        mount = part.mountpoint.rstrip("/") + "/"
        if (target + "/").startswith(mount) and len(mount) > len(best):
            best, kind = mount, part.fstype
    return kind
