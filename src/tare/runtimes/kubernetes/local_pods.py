"""Pods that run on this very machine: their processes, control groups and accounting.

A pod's node may share this machine's kernel: a rig, kind, a single node.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tare.machines.cgroups import Accounting, group_paths
from tare.runtimes.orchestrated import Orchestrated

if TYPE_CHECKING:
    from collections.abc import Callable


POD = Orchestrated(
    "pod", "Kubernetes pauses no pods", "Kubernetes itself gives whole CPUs, but not which"
)
_KUBELETS = {"kubelet", "k3s", "k3s-server", "k3s-agent"}


def kubelet_runs() -> bool:
    """Whether a node of some cluster runs on this machine, and shares its CPUs and memory."""
    return any(process.info["name"] in _KUBELETS for process in psutil.process_iter(["name"]))


def process_of(container: str, proc: Path = Path("/proc")) -> int | None:
    """The first process of a container if it runs on this machine; else None.

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
class KubeletAccounting(Accounting):
    """Accounting of a container on another machine, by its kubelet."""

    read: Callable[[], float] = lambda: 0.0

    def cpu_seconds(self) -> float:
        return self.read()


def accounting_of(container: str, elsewhere: Callable[[], float]) -> Accounting:
    """Where a container's use can be read: this machine's kernel, else `elsewhere`."""
    pid = process_of(container)
    if pid is None:
        return KubeletAccounting(read=elsewhere)
    return Accounting(group_paths(pid, container), (pid,))
