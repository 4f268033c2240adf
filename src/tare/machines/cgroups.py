"""Control groups of native units, version 1 and 2: limits, accounting, freezing, removal.

A native unit gets its own group, as a service does from systemd and a container from Docker. So all
runtimes are accounted, limited, scheduled and frozen by the same means.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tare import starter
from tare.errors import RuntimeUnavailableError, TareError, UnitGoneError
from tare.machines.machine import HERE, Machine

ROOT = Path("/sys/fs/cgroup")
PARENT = "tare"
_MARKED_BY = "@"
V1_CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory", "freezer", "pids")
_FIRST_WAIT_S, _LAST_WAIT_S = 0.0002, 0.5
"""between checks of a group that freezes, each a tenth longer: 5 s in all"""
_AGAIN_S = 0.05
"""A freezer of version 1 that is slower is thawed and asked again, then after twice that: one in
sixty freezes of a sandbox that traces its processes (gVisor) stopped halfway, for good."""
_FROZEN = {"unified": ("cgroup.events", "frozen 1"), "freezer": ("freezer.state", "FROZEN")}
"""by hierarchy, the file of a group that shows that it is frozen, and the text there"""
_STOPPED = {"T": "a signal, as by kill -STOP", "t": "a debugger"}
"""states of a process that does not run (proc_pid_stat(5))"""
CFS_PERIOD_US = 100_000
"""the kernel's and Docker's default CFS period"""


class LimitValues(Protocol):
    """What a unit may use; None means without limit."""

    @property
    def cpus(self) -> float | None: ...
    @property
    def cpuset(self) -> str | None: ...
    @property
    def memory(self) -> int | None: ...


@dataclass(frozen=True)
class Accounting:
    """Where a unit's resource use can be read.

    `paths` has a directory per version 1 controller, or one named "unified" (version 2).
    """

    paths: dict[str, str] = field(default_factory=dict)
    pids: tuple[int, ...] = ()
    machine: Machine = HERE
    """machine of these paths and process ids"""
    paused: Callable[[], bool] | None = field(default=None, compare=False)
    """asks its runtime whether somebody had it paused; None: there is nobody to ask"""

    @property
    def pid(self) -> int:
        """The unit's first process; 0, which no process has: not known."""
        return self.pids[0] if self.pids else 0

    def cpu_seconds(self) -> float:
        """CPU seconds, user and system, that the unit has used since it began.

        Raises:
            UnitGoneError: it has ended, and the kernel has forgotten what it used.
        """
        if "cpuacct" in self.paths:
            file = f"{self.paths['cpuacct']}/cpuacct.usage"
            return int(self._content(file)) / 1e9
        if "unified" in self.paths:
            file = f"{self.paths['unified']}/cpu.stat"
            for line in self._content(file).splitlines():
                name, _, value = line.partition(" ")
                if name == "usage_usec":
                    return int(value) / 1e6
        stats = self.machine.read(*(f"/proc/{pid}/stat" for pid in self.pids))
        if self.pids and not stats:
            raise UnitGoneError("a unit's processes have gone", where=f"process {self.pid}")
        fields = (text.rpartition(")")[2].split() for text in stats.values())
        return sum(int(one[11]) + int(one[12]) for one in fields) / self.machine.ticks

    def standing_still(self, *, frozen: bool = True) -> str:
        """What keeps the unit from running; empty: nothing that can be seen.

        Args:
            frozen: its control group counts, too. Else the runtime is asked, because Tare itself
                freezes and thaws the group.

        Raises:
            RuntimeUnavailableError: its machine does not answer.
        """
        if not frozen and self.paused is not None and self.paused():
            return "its container is paused, as by docker pause"
        signs = {
            f"{self.paths[name]}/{file}": sign
            for name, (file, sign) in _FROZEN.items()
            if frozen and name in self.paths
        }
        stats = [f"/proc/{pid}/stat" for pid in self.pids]
        told = self.machine.read(*signs, *stats)
        if any(sign in told.get(file, "") for file, sign in signs.items()):
            return "its control group is frozen, as by docker pause"
        for pid, file in zip(self.pids, stats, strict=True):
            state = told.get(file, "").rpartition(")")[2].split()[:1]
            if state and state[0] in _STOPPED:
                return f"its process {pid} is stopped by {_STOPPED[state[0]]}"
        return ""

    def _content(self, file: str) -> str:
        text = self.machine.read(file).get(file, "")
        if not text.strip():
            raise UnitGoneError("a unit's control group has gone", where=file)
        return text


def version(root: Path = ROOT) -> int:
    """2 on a unified hierarchy with controllers, 1 on version 1 or hybrid, 0 without groups."""
    if (root / "cgroup.controllers").exists():
        return 2
    return 1 if (root / "cpuacct").is_dir() else 0


def can_be_made(root: Path = ROOT) -> bool:
    """Whether this process may make groups. Root may not if a container has them read-only."""
    kind = version(root)
    return kind > 0 and os.access(root if kind == 2 else root / "cpuacct", os.W_OK)


def to_top(pid: int, root: Path = ROOT) -> None:
    """Move a process from its CPU group of version 1 into the group of the whole machine.

    A kernel that shares out real time by group gives the groups of containers none of it
    (Documentation/scheduler/sched-rt-group.rst).

    Raises:
        OSError: there are no such groups, or this process may not.
    """
    (root / "cpu" / "cgroup.procs").write_text(str(pid))


def of_run(run: str) -> str:
    """The name of a run's groups, with the mark of their maker: a group holds no label."""
    return f"{run}{_MARKED_BY}{starter.mark()}"


def mark_in(name: str) -> str:
    """The mark in a name by `of_run`."""
    return name.rpartition(_MARKED_BY)[2]


class ControlGroup:
    """One native unit's control group."""

    def __init__(self, run: str, unit: str, root: Path = ROOT) -> None:
        self._version = version(root)
        name = Path(PARENT) / of_run(run) / unit
        if self._version == 2:
            self._paths = {"unified": root / name}
        else:
            self._paths = {c: root / c / name for c in V1_CONTROLLERS if (root / c).is_dir()}
        self._root = root

    def create(self, limits: LimitValues) -> None:
        """Make the group and set its limits.

        Raises:
            RuntimeUnavailableError: this process may not make groups, or a limit is not valid, or
                its controller is not mounted.
        """
        self._refuse_unmounted(limits)
        try:
            if self._version == 2:
                self._enable_v2()
            for path in self._paths.values():
                path.mkdir(parents=True, exist_ok=True)
            if "cpuset" in self._paths:
                self._fill_cpuset()
            self._limit(limits)
        except OSError as error:
            raise RuntimeUnavailableError(
                f"cannot set up the control group {next(iter(self._paths.values()))}",
                why=str(error),
                remedy="run as root, or without limits",
            ) from error

    def _refuse_unmounted(self, limits: LimitValues) -> None:
        wanted = {"cpu": limits.cpus, "cpuset": limits.cpuset, "memory": limits.memory}
        for controller, limit in wanted.items():
            if limit is not None and not {"unified", controller} & self._paths.keys():
                raise RuntimeUnavailableError(
                    f"a native unit cannot be limited to {controller} {limit}",
                    where=str(self._root),
                    why=f"no control groups with the controller {controller} are mounted there",
                    remedy="mount control groups, or leave the limit out",
                )

    def _enable_v2(self) -> None:
        leaf = self._paths["unified"]
        for parent in [*reversed(leaf.parents)]:
            if parent == self._root or self._root in parent.parents:
                parent.mkdir(exist_ok=True)
                for controller in ("cpu", "cpuset", "memory", "pids", "io"):
                    with contextlib.suppress(OSError):  # one not offered by the parent
                        (parent / "cgroup.subtree_control").write_text(f"+{controller}")

    def _fill_cpuset(self) -> None:
        """A version 1 cpuset is unusable until it names processors and memory nodes."""
        base = self._root / "cpuset"
        for parent in [*reversed(self._paths["cpuset"].parents), self._paths["cpuset"]]:
            if base in parent.parents:
                for key in ("cpuset.cpus", "cpuset.mems"):
                    if not _text(parent / key):
                        (parent / key).write_text(_text(parent.parent / key))

    def _limit(self, limits: LimitValues) -> None:
        if self._version == 2:
            group = self._paths["unified"]
            if limits.cpus is not None:
                quota = round(limits.cpus * CFS_PERIOD_US)
                (group / "cpu.max").write_text(f"{quota} {CFS_PERIOD_US}")
            if limits.cpuset is not None:
                (group / "cpuset.cpus").write_text(limits.cpuset)
            if limits.memory is not None:
                (group / "memory.max").write_text(str(limits.memory))
            return
        if limits.cpus is not None:
            (self._paths["cpu"] / "cpu.cfs_period_us").write_text(str(CFS_PERIOD_US))
            quota = round(limits.cpus * CFS_PERIOD_US)
            (self._paths["cpu"] / "cpu.cfs_quota_us").write_text(str(quota))
        if limits.cpuset is not None:
            (self._paths["cpuset"] / "cpuset.cpus").write_text(limits.cpuset)
        if limits.memory is not None:
            (self._paths["memory"] / "memory.limit_in_bytes").write_text(str(limits.memory))

    def confine(self, cpuset: str) -> None:
        """Let the group's processes run on these CPUs only, from now on."""
        confine({name: str(path) for name, path in self._paths.items()}, cpuset)

    def procs_files(self) -> list[str]:
        """Files into which a process writes its id in order to join."""
        return [str(path / "cgroup.procs") for path in self._paths.values()]

    def accounting(self, pids: tuple[int, ...]) -> Accounting:
        return Accounting({name: str(path) for name, path in self._paths.items()}, pids)

    def freeze(self, frozen: bool, pause: Callable[[float], None] = time.sleep) -> None:
        """Stop or continue all processes of the group, and return when the kernel has done so."""
        freeze({name: str(path) for name, path in self._paths.items()}, frozen, pause)

    def thaw_and_members(self) -> set[int]:
        """The processes inside; thaws a frozen group, so that they can die."""
        return thaw_and_members([*self._paths.values()])

    def remove(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Remove the group once its processes have gone; a busy one is left for `tare clean`."""
        for path in self._paths.values():
            remove_empty(path, pause)


def remove_empty(path: Path, pause: Callable[[float], None] = time.sleep) -> None:
    """Remove a group; the kernel holds it for a moment longer than its processes live."""
    for _ in range(50):
        if not path.exists():
            return
        try:
            path.rmdir()
        except PermissionError:
            return
        except OSError:
            pause(0.02)


def freeze(
    paths: Mapping[str, str], frozen: bool, pause: Callable[[float], None] = time.sleep
) -> None:
    """Stop or continue all processes of a group, and return when the kernel has done so.

    Args:
        paths: the group's directories, as in `Accounting`.
        frozen: whether they are to stop.
        pause: waits for a number of seconds.

    Raises:
        RuntimeUnavailableError: they do not stop or continue, or the group cannot be frozen.
    """
    if "unified" in paths:
        group = Path(paths["unified"])
        (group / "cgroup.freeze").write_text("1" if frozen else "0")
        file, sign, again = group / "cgroup.events", f"frozen {int(frozen)}", math.inf
    elif "freezer" in paths:
        sign = "FROZEN" if frozen else "THAWED"
        file = Path(paths["freezer"]) / "freezer.state"
        file.write_text(sign)
        again = _AGAIN_S if frozen else math.inf
    else:
        raise RuntimeUnavailableError("a unit has no control group that can be frozen")
    wait, waited = _FIRST_WAIT_S, 0.0
    while wait < _LAST_WAIT_S:
        if sign in _text(file):
            return
        if waited > again:
            again *= 2
            file.write_text("THAWED")
            file.write_text(sign)
        pause(wait)
        waited += wait
        wait *= 1.1
    raise RuntimeUnavailableError(
        "a control group did not " + ("freeze" if frozen else "thaw") + " within 5 s",
        where=next(iter(paths.values())),
    )


def thaw_left(paths: Mapping[str, str]) -> None:
    """Try to thaw a group that a dead run froze: a frozen process cannot die.

    Args:
        paths: as in `freeze`.
    """
    with contextlib.suppress(TareError, OSError):
        freeze(paths, False)


def freezable(paths: Mapping[str, str]) -> bool:
    """Whether `freeze` can stop this group: it has a freezer, which this process may write."""
    files = {"unified": "cgroup.freeze", "freezer": "freezer.state"}
    return any(
        os.access(Path(paths[name]) / file, os.W_OK)
        for name, file in files.items()
        if name in paths
    )


def confine(paths: Mapping[str, str], cpuset: str) -> None:
    """Let a group's processes run on these CPUs only, from now on."""
    group = Path(paths.get("cpuset") or paths["unified"])
    (group / "cpuset.cpus").write_text(cpuset)


def group_paths(pid: int, container: str) -> dict[str, str]:
    """A container's control groups, from /proc/PID/cgroup, as directories of this machine."""
    try:
        text = Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii")
    except OSError:  # it has ended
        return {}
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        if container[:12] not in path:
            continue
        if not controllers and version() == 2:
            paths["unified"] = str(ROOT / path.lstrip("/"))
        for controller in controllers.split(","):
            directory = ROOT / controller / path.lstrip("/")
            if controller in (*V1_CONTROLLERS, "blkio") and directory.is_dir():
                paths[controller] = str(directory)
    return paths


def kill(pid: int, container: str) -> None:
    """Kill a container's first process, if nobody else is left to end it.

    Args:
        pid: of the process; left alone if it is no longer the container's.
        container: the engine's id of the container.
    """
    if pid and container and group_paths(pid, container):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def remove_run(run: str, root: Path = ROOT) -> None:
    """Remove a run's own groups, which held its units' groups; a busy one is left."""
    bases = [root] if version(root) == 2 else [root / controller for controller in V1_CONTROLLERS]
    for base in bases:
        with contextlib.suppress(OSError):
            (base / PARENT / of_run(run)).rmdir()


def leftovers(root: Path = ROOT) -> list[Path]:
    """Groups that a dead run left, deepest first."""
    bases = [root / PARENT] if version(root) == 2 else [root / c / PARENT for c in V1_CONTROLLERS]
    found: list[Path] = []
    for base in bases:
        if base.is_dir():
            found += [p for run in sorted(base.iterdir()) if is_left(run) for p in _walk(run)]
    return found


def is_left(run: Path) -> bool:
    """Whether these are the groups of a run whose process has ended."""
    return run.is_dir() and starter.without_owner(mark_in(run.name))


def _walk(base: Path) -> Iterator[Path]:
    for directory, _, _ in os.walk(base, topdown=False):
        yield Path(directory)


def thaw_and_members(groups: list[Path]) -> set[int]:
    """Thaw frozen groups (a frozen process cannot die) and return the processes inside."""
    members: set[int] = set()
    for group in groups:
        for name, value in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):
            if (group / name).exists():
                with contextlib.suppress(OSError):
                    (group / name).write_text(value)
        members |= {int(pid) for pid in _text(group / "cgroup.procs").split()}
    return members


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:  # it is gone, or goes while it is read
        return ""
