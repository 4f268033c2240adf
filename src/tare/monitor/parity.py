"""Facts of a running unit that should be alike in all conditions, read from the kernel."""

from __future__ import annotations

from pathlib import Path

from tare.machines.cgroups import Accounting
from tare.machines.facts import MachineFacts

_UNLIMITED = 1 << 60
"""version 1 memory limits above this are the kernel's way to say: none"""


def parity_facts(accounting: Accounting, data: str, machine: MachineFacts) -> dict[str, str]:
    """CPUs, limits, file system and kernel settings as the unit's first process has them.

    Args:
        accounting: the unit's control groups and root process.
        data: its data directory, as it sees it.
        machine: facts of this machine; of a unit on another one nothing is told.
    """
    pid = accounting.pid
    if not pid:
        return {}
    facts = {
        "kernel": machine.kernel,
        "clock source": machine.clock_source,
        "transparent huge pages": machine.transparent_huge_pages,
        "cpus allowed": _status(pid, "Cpus_allowed_list"),
        "cpu quota": _cpu_quota(accounting),
        "memory limit": _memory_limit(accounting),
        "own control group": "yes" if accounting.paths else "no",
        "open files": _limit(pid, "Max open files"),
        "locked memory": _limit(pid, "Max locked memory"),
        "file system": _file_system(pid, data),
        "seccomp": {"0": "off", "1": "strict", "2": "filter"}.get(_status(pid, "Seccomp"), ""),
        "user": _status(pid, "Uid").split("\t")[0],
    }
    return {name: value for name, value in facts.items() if value}


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _status(pid: int, key: str) -> str:
    for line in _read(f"/proc/{pid}/status").splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return value.strip()
    return ""


def _limit(pid: int, title: str) -> str:
    for line in _read(f"/proc/{pid}/limits").splitlines():
        if line.startswith(title):
            return line[len(title) :].split()[0]
    return ""


def _cpu_quota(accounting: Accounting) -> str:
    if "cpu" in accounting.paths:
        quota = _read(f"{accounting.paths['cpu']}/cpu.cfs_quota_us").strip()
        period = _read(f"{accounting.paths['cpu']}/cpu.cfs_period_us").strip()
    elif "unified" in accounting.paths:
        quota, _, period = _read(f"{accounting.paths['unified']}/cpu.max").strip().partition(" ")
    else:
        return "none"
    if quota in ("-1", "max", "") or not period:
        return "none"
    return f"{int(quota) / int(period):g} CPUs"


def _memory_limit(accounting: Accounting) -> str:
    if "memory" in accounting.paths:
        value = _read(f"{accounting.paths['memory']}/memory.limit_in_bytes").strip()
    elif "unified" in accounting.paths:
        value = _read(f"{accounting.paths['unified']}/memory.max").strip()
    else:
        return "none"
    if value in ("max", "") or int(value) >= _UNLIMITED:
        return "none"
    return f"{int(value) // (1 << 20)} MiB"


def _file_system(pid: int, data: str) -> str:
    """Type of the mount that holds `data` in the process's own view, from its mountinfo."""
    best, kind = -1, ""
    for line in _read(f"/proc/{pid}/mountinfo").splitlines():
        left, _, right = line.partition(" - ")
        mount = left.split()[4]
        inside = data == mount or data.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) > best:
            best, kind = len(mount), right.split()[0]
    return kind
