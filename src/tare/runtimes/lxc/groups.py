"""The control groups that LXC makes for a container: their names, their limits, their removal.

LXC makes them in every hierarchy that is mounted, not only in those whose controllers Tare reads.
They have the names of Tare's own groups, so that accounting, freezing and the search for leftovers
are those of every unit of this machine. LXC removes a container's groups when it ends; the group
into which its own process then moves stays.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.machines import cgroups

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.machines.cgroups import LimitValues

_OF_ALL = cgroups.V1_CONTROLLERS
_MONITOR = ".monitor"
_LAST = "lxc.pivot"
"""group into which the processes of lxc-execute move when their containers have ended"""


def settings(run: str, unit: str, limits: LimitValues) -> list[tuple[str, str]]:
    """The lines of a container's configuration that name its groups and limit them."""
    own = f"{cgroups.PARENT}/{cgroups.of_run(run)}"
    named = [
        ("lxc.cgroup.dir.container", f"{own}/{unit}"),
        ("lxc.cgroup.dir.monitor", f"{own}/{unit}{_MONITOR}"),
        ("lxc.cgroup.dir.monitor.pivot", f"{own}/{_LAST}"),
    ]
    return named + _limits(limits, cgroups.version())


def _limits(limits: LimitValues, version: int) -> list[tuple[str, str]]:
    """In the kernel's words for this version of control groups."""
    found = []
    if limits.cpus is not None:
        quota = str(round(limits.cpus * cgroups.CFS_PERIOD_US))
        file, words = "cpu.cfs_quota_us", quota
        if version == 2:
            file, words = "cpu.max", f"{quota} {cgroups.CFS_PERIOD_US}"
        found.append((file, words))
    if limits.cpuset is not None:
        found.append(("cpuset.cpus", limits.cpuset))
    if limits.memory is not None:
        file = "memory.max" if version == 2 else "memory.limit_in_bytes"
        found.append((file, str(limits.memory)))
    return [(f"lxc.cgroup{'2' if version == 2 else ''}.{file}", words) for file, words in found]


def prepare(run: str, root: Path = cgroups.ROOT) -> None:
    """Let the groups that LXC makes for a run have the machine's CPUs and memory nodes.

    In version 1 a group has none until somebody writes them, and no process can join it. LXC writes
    those of the first group of a path that it makes, which a native unit has often made before.

    Raises:
        RuntimeUnavailableError: this process may not.
    """
    base = root / "cpuset"
    if cgroups.version(root) == 2 or not base.is_dir():
        return
    parent = base
    try:
        for name in (cgroups.PARENT, cgroups.of_run(run)):
            own = parent / name
            own.mkdir(exist_ok=True)
            for key in ("cpuset.cpus", "cpuset.mems"):
                if not (own / key).read_text(encoding="ascii").strip():
                    (own / key).write_text((parent / key).read_text(encoding="ascii"))
            (own / "cgroup.clone_children").write_text("1")
            parent = own
    except OSError as error:
        raise RuntimeUnavailableError(
            f"cannot set up the control group {parent / name}", why=str(error), remedy="run as root"
        ) from error


def remove_unit(run: str, unit: str, root: Path = cgroups.ROOT) -> None:
    """Remove what is left of the groups of a container that has ended.

    LXC removes them itself, unless somebody killed it.
    """
    for base in _hierarchies(root):
        for end in ("", _MONITOR):
            _remove_tree(base / cgroups.PARENT / cgroups.of_run(run) / f"{unit}{end}")


def remove_run(run: str, root: Path = cgroups.ROOT) -> None:
    """Remove what containers of a run left once all have ended, and its groups if they are empty:
    other units may have theirs in them."""
    for base in _hierarchies(root):
        own = base / cgroups.PARENT / cgroups.of_run(run)
        _remove_tree(own / _LAST)
        with contextlib.suppress(OSError):
            own.rmdir()
        _remove_parent(base)


def leftovers(root: Path = cgroups.ROOT) -> list[Path]:
    """The runs' groups without an owner, in the hierarchies in which native units have none.

    `cgroups.leftovers` finds those in the others, for all units of this machine.
    """
    own = [one for one in _hierarchies(root) if _of_lxc_alone(one)]
    runs = [run for base in own for run in sorted(base.glob(f"{cgroups.PARENT}/*"))]
    return [one for one in runs if cgroups.is_left(one)]


def members(runs: Iterable[Path]) -> set[int]:
    """The processes in these runs' groups, which can die from now on."""
    cgroups.thaw_and_members(cgroups.leftovers())  # what freezes is among the others
    return cgroups.thaw_and_members([group for run in runs for group in _tree(run)])


def remove_left(runs: Iterable[Path]) -> None:
    """Remove runs' groups, whose processes have ended."""
    for run in runs:
        _remove_tree(run)
        _remove_parent(run.parent.parent)


def _remove_parent(base: Path) -> None:
    """Remove the parent of all runs' groups, once it is empty and native units do not use it."""
    if _of_lxc_alone(base):
        with contextlib.suppress(OSError):
            (base / cgroups.PARENT).rmdir()


def _of_lxc_alone(base: Path) -> bool:
    """Whether native units have no groups in this hierarchy."""
    return cgroups.version(base.parent) == 1 and base.name not in _OF_ALL


def _remove_tree(path: Path) -> None:
    for one in _tree(path):
        cgroups.remove_empty(one)


def _tree(path: Path) -> list[Path]:
    """A group and those inside it, deepest first."""
    return [Path(one) for one, _, _ in os.walk(path, topdown=False)]


def _hierarchies(root: Path) -> list[Path]:
    """The directories at which control groups are mounted."""
    if cgroups.version(root) == 2:
        return [root]
    within = sorted(root.iterdir()) if root.is_dir() else []
    return [one for one in within if not one.is_symlink() and (one / "cgroup.procs").exists()]
