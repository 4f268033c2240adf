"""LXC's programs on this machine: whether they are there, and whether a container starts."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tare import scratch
from tare.artifacts.program import run_to_end
from tare.errors import RuntimeUnavailableError
from tare.machines import cgroups
from tare.runtimes.lxc import configuration, groups
from tare.study.platform import Limits

COMMAND = "lxc-execute"
INSTALL = "apt-get install --no-install-recommends lxc"
_CANNOT = "LXC cannot be used"
_OLDEST = (5, 0)
"""The oldest release that it was seen with; older ones lack the key lxc.cgroup.dir.container."""
_STARTED_S = 20.0
"""how long a container may take to start and to end"""
_RUN = "try"
LOG = "lxc.log"
"""name of LXC's own log of a container"""


@dataclass(frozen=True)
class Lxc:
    """What starts containers."""

    path: str
    version: str

    @property
    def words(self) -> str:
        return f"LXC {self.version}"


def usable() -> Lxc:
    """The machine's LXC, whose containers start.

    Raises:
        RuntimeUnavailableError: there is none, or they do not.
    """
    if os.geteuid() != 0:
        raise _unfit("only root's containers join a bridge of this machine", "run as root")
    path = shutil.which(COMMAND)
    if path is None:
        raise _unfit(f"the command {COMMAND} is missing", INSTALL)
    if not configuration.COMMON.exists():
        raise _unfit(f"there is no {configuration.COMMON}", INSTALL)
    if shutil.which("ip") is None:
        raise _unfit("the command ip is missing", "apt-get install iproute2")
    if not cgroups.can_be_made():
        why = f"no control groups can be made below {cgroups.ROOT}"
        raise _unfit(why, "mount them, or use a machine that is no container itself")
    found = Lxc(path, _version(path))
    if fault := _not_started(found):
        raise _unfit(f"a container of {found.words} does not start: {fault}", "docs/lxc.md")
    return found


def _version(path: str) -> str:
    """The release that the program reports.

    Raises:
        RuntimeUnavailableError: it reports none, or an older one than is needed.
    """
    try:
        told = run_to_end([path, "--version"], _STARTED_S).last(1)
    except OSError as error:
        raise _unfit(f"{path} does not run: {error}", INSTALL) from error
    numbers = [part for part in told.split("-")[0].split(".")[:2] if part.isdecimal()]
    if len(numbers) < 2:
        raise _unfit(f"{path} tells no version ({told or 'it is silent'})", INSTALL)
    if tuple(map(int, numbers)) < _OLDEST:
        raise _unfit(f"it is {told}", "install LXC 5.0 or later")
    return told


@cache
def _not_started(lxc: Lxc) -> str:
    """Why a container does not start; empty: it does. A machine may forbid its mounts."""
    with scratch.directory("lxc") as place:
        home = Path(place)
        unit = home.name.rpartition(".")[2]  # another Tare may try at the same time
        lines = configuration.container(_RUN, unit, home, Limits(), configuration.alone())
        hosts = configuration.hosts(unit, "")
        configuration.hosts_of(home).write_text(hosts, encoding="utf-8")
        groups.prepare(_RUN)
        try:
            done = run_to_end(
                command(lxc.path, _RUN, unit, home, home, lines, ["/bin/true"]), _STARTED_S
            )
        finally:
            groups.remove_unit(_RUN, unit)
            groups.remove_run(_RUN)
        return "" if done.ok else failure(home) or done.last(1) or f"status {done.status}"


def command(
    path: str,
    run: str,
    unit: str,
    home: Path,
    log: Path,
    lines: list[configuration.Line],
    arguments: list[str],
) -> list[str]:
    """Write a container's configuration; the command that runs these arguments in it.

    Args:
        home: the unit's directory, for the configuration.
        log: the directory of LXC's own log.
    """
    file = home / "lxc.conf"
    file.write_text(configuration.written(lines), encoding="utf-8")
    own = [path, "--name", name(run, unit), "--rcfile", str(file)]
    return [*own, "--logfile", str(log / LOG), "--logpriority", "WARN", "--", *arguments]


def name(run: str, unit: str) -> str:
    """The container's name, as `lxc-ls --active` shows it."""
    return f"tare-{run}-{unit}"


def failure(log: Path) -> str:
    """What went wrong, by LXC's log in this directory: the first error; empty: nothing did."""
    file = log / LOG
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    errors = [line for line in text.splitlines() if " ERROR " in line]
    return errors[0].split(" - ", 2)[-1].strip() if errors else ""


def _unfit(why: str, remedy: str) -> RuntimeUnavailableError:
    return RuntimeUnavailableError(_CANNOT, why=why, remedy=remedy)
