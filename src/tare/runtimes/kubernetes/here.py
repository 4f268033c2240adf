"""Pods that run on this very machine: their processes, control groups, freezing and accounting.

Kubernetes knows neither pausing nor a choice of CPUs. Where a pod's node shares this machine's
kernel (a rig, kind, a single node) and we are root, its control groups give both.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tare.errors import RuntimeUnavailableError
from tare.machines import cgroups
from tare.machines.cgroups import Accounting, group_paths

if TYPE_CHECKING:
    from collections.abc import Callable


_KUBELETS = {"kubelet", "k3s", "k3s-server", "k3s-agent"}


def kubelet_runs() -> bool:
    """Whether a node of some cluster runs on this machine, and shares its CPUs and memory."""
    return any(process.info["name"] in _KUBELETS for process in psutil.process_iter(["name"]))


def process_of(container: str, proc: Path = Path("/proc")) -> int | None:
    """The first process of a container, where it runs on this machine; else None.

    Args:
        container: the engine's id of it.
        proc: where the kernel shows processes.
    """
    if not container:
        return None
    for directory in proc.glob("[0-9]*"):
        try:
            if container not in (directory / "cgroup").read_text(encoding="ascii"):
                continue
            if _number_inside(directory / "status") == 1:
                return int(directory.name)
        except (OSError, ValueError):  # it has just ended
            continue
    return None


def _number_inside(status: Path) -> int:
    """A process's number in its own namespace, by /proc/PID/status, line NSpid."""
    for line in status.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return 0


@dataclass(frozen=True)
class Elsewhere(Accounting):
    """Accounting of a container on another machine, as its kubelet tells it."""

    read: Callable[[], float] = lambda: 0.0

    def cpu_seconds(self) -> float:
        return self.read()


def accounting_of(container: str, elsewhere: Callable[[], float]) -> Accounting:
    """Where a container's use can be read: this machine's kernel, else `elsewhere`."""
    pid = process_of(container)
    if pid is None:
        return Elsewhere(read=elsewhere)
    return Accounting(group_paths(pid, container), (pid,))


def freeze(unit: str, accounting: Accounting, frozen: bool) -> None:
    """Pause a unit's pod, or let it go on.

    Raises:
        RuntimeUnavailableError: it runs elsewhere, where nothing can pause it, or its groups are
            not ours to write.
    """
    if accounting.pid == 0:
        raise RuntimeUnavailableError(
            "a pod on another machine cannot be paused",
            where=unit,
            why="Kubernetes pauses no pods",
            remedy="set design.idle to run, or design.fresh to trial or block",
        )
    try:
        cgroups.freeze(accounting.paths, frozen)
    except OSError as error:
        raise RuntimeUnavailableError(
            "a pod's control group cannot be frozen",
            where=unit,
            why=str(error),
            remedy="run as root, or set design.idle to run",
        ) from error


def confine(unit: str, accounting: Accounting, cpuset: str) -> None:
    """Let a unit's pod run on these CPUs only.

    Raises:
        RuntimeUnavailableError: it runs elsewhere, or its groups are not ours to write.
    """
    if accounting.pid == 0:
        raise RuntimeUnavailableError(
            "a pod on another machine cannot be put on chosen CPUs",
            where=unit,
            why="Kubernetes itself gives whole CPUs, but not which",
            remedy="leave limits.cpuset out; limits.cpus holds everywhere",
        )
    try:
        cgroups.confine(accounting.paths, cpuset)
    except (OSError, KeyError) as error:
        raise RuntimeUnavailableError(
            "a pod's CPUs cannot be set", where=unit, why=str(error), remedy="run as root"
        ) from error


def inside(pid: int, path: str, proc: Path = Path("/proc")) -> Path:
    """A file as a process sees it, as a path of this machine."""
    return proc / str(pid) / "root" / path.lstrip("/")
