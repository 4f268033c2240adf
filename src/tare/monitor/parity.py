"""Facts of a running unit that should be equal in all conditions, read from the kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tare.machines.cgroups import Accounting
from tare.machines.facts import MachineFacts, hardware

_UNLIMITED = 1 << 60
"""a version 1 memory limit above this means that there is no limit"""
_ALL = 0.95
"""share of a mapping in huge pages that counts as all: its ends need not be aligned"""
_SIZE = re.compile(r"^(Anonymous|AnonHugePages): +(\d+) kB$", re.MULTILINE)
ARCHIVE = ".jsa"
"""suffix of the name of a JVM's class archive, wherever it lies"""
_LIMIT_FILES = (
    ("cpu", "cpu.cfs_quota_us"),
    ("cpu", "cpu.cfs_period_us"),
    ("memory", "memory.limit_in_bytes"),
    ("unified", "cpu.max"),
    ("unified", "memory.max"),
)
"""controller, and its file that holds a limit"""


def parity_facts(accounting: Accounting, data: str, machine: MachineFacts) -> dict[str, str]:
    """CPUs, limits, file system and kernel settings of a unit's first process; its machine's facts.

    Args:
        accounting: the unit's control groups and root process.
        data: its data directory, as the unit sees it.
        machine: facts of this machine, for units on it; a unit without a known process gets none.
    """
    pid = accounting.pid
    if not pid:
        return {}
    texts = accounting.machine.read(
        *(f"/proc/{pid}/{name}" for name in ("status", "limits", "mountinfo", "smaps")),
        *(f"{accounting.paths[c]}/{name}" for c, name in _LIMIT_FILES if c in accounting.paths),
    )
    status = texts.get(f"/proc/{pid}/status", "")
    maps = texts.get(f"/proc/{pid}/smaps", "")
    limits = texts.get(f"/proc/{pid}/limits", "")
    here = {
        "kernel": machine.kernel,
        "clock source": machine.clock_source,
        "transparent huge pages": machine.transparent_huge_pages,
    } | hardware(
        machine.cpu_model,
        str(machine.cpus),
        machine.memory_bytes,
        machine.virtualization or "none",
    )
    facts = {
        **(accounting.machine.traits or here),
        "cpus allowed": _status(status, "Cpus_allowed_list"),
        "cpu quota": _cpu_quota(accounting, texts),
        "memory limit": _memory_limit(accounting, texts),
        "own control group": "yes" if accounting.paths else "no",
        "open files": _limit(limits, "Max open files"),
        "locked memory": _limit(limits, "Max locked memory"),
        "file system": _file_system(texts.get(f"/proc/{pid}/mountinfo", ""), data),
        "seccomp": {"0": "off", "1": "strict", "2": "filter"}.get(_status(status, "Seccomp"), ""),
        "user": _status(status, "Uid").split("\t")[0],
        "class archive": _mapped(maps, ARCHIVE),
        "largest memory in huge pages": _huge(maps),
    }
    return {name: value for name, value in facts.items() if value}


def _mapped(maps: str, suffix: str) -> str:
    """Whether a process maps a file with this suffix; empty: its mappings cannot be read."""
    if not maps:
        return ""
    return "mapped" if any(line.endswith(suffix) for line in maps.splitlines()) else "none"


def _huge(maps: str) -> str:
    """How much of the largest anonymous mapping (a JVM's heap) lies in huge pages.

    Where memory is fragmented, a process that asks for huge pages gets fewer, without notice. Two
    equal processes then differ by some percent of CPU time. Empty: the mappings cannot be read.
    """
    largest = huge = 0
    for mapping in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", maps, flags=re.MULTILINE):
        sizes = dict(_SIZE.findall(mapping))
        if int(sizes.get("Anonymous", 0)) > largest:
            largest, huge = int(sizes["Anonymous"]), int(sizes.get("AnonHugePages", 0))
    if not largest:
        return ""
    return "none" if not huge else "all" if huge >= _ALL * largest else "part"


def _status(text: str, key: str) -> str:
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return value.strip()
    return ""


def _limit(text: str, title: str) -> str:
    for line in text.splitlines():
        if line.startswith(title):
            return line[len(title) :].split()[0]
    return ""


def _of_group(accounting: Accounting, texts: Mapping[str, str], controller: str, name: str) -> str:
    return texts.get(f"{accounting.paths[controller]}/{name}", "").strip()


def _cpu_quota(accounting: Accounting, texts: Mapping[str, str]) -> str:
    if "cpu" in accounting.paths:
        quota = _of_group(accounting, texts, "cpu", "cpu.cfs_quota_us")
        period = _of_group(accounting, texts, "cpu", "cpu.cfs_period_us")
    elif "unified" in accounting.paths:
        quota, _, period = _of_group(accounting, texts, "unified", "cpu.max").partition(" ")
    else:
        return "none"
    if quota in ("-1", "max", "") or not period:
        return "none"
    return f"{int(quota) / int(period):g} CPUs"


def _memory_limit(accounting: Accounting, texts: Mapping[str, str]) -> str:
    if "memory" in accounting.paths:
        value = _of_group(accounting, texts, "memory", "memory.limit_in_bytes")
    elif "unified" in accounting.paths:
        value = _of_group(accounting, texts, "unified", "memory.max")
    else:
        return "none"
    if value in ("max", "") or int(value) >= _UNLIMITED:
        return "none"
    return f"{int(value) // (1 << 20)} MiB"


def _file_system(mounts: str, data: str) -> str:
    """Type of the mount that holds `data` in the process's own view, from its mountinfo."""
    best, kind = -1, ""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        mount = left.split()[4]
        inside = data == mount or data.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) > best:
            best, kind = len(mount), right.split()[0]
    return kind
