"""The native runtime: a unit is a plain process in its own control group."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import psutil

from tare.errors import RuntimeUnavailableError
from tare.machines import cgroups
from tare.machines.addresses import AddressPool
from tare.machines.cgroups import Accounting, ControlGroup
from tare.runtimes.in_place import InPlaceRunning, InPlaceRuntime
from tare.runtimes.open_files import open_files
from tare.runtimes.unit import Exit, Site, SiteOptions, Unit, Way
from tare.starter import RUN_VARIABLE, STARTER_VARIABLE, labels, mark, without_owner

if TYPE_CHECKING:
    from tare.study.platform import Platform

_PATH = "loopback of the host"

_KILLED_S, _LOOK_AGAIN_S = 10.0, 0.1
"""for how long, and how often, remaining processes of a unit are killed, seconds"""

_JOIN_AND_EXEC = (
    'ulimit -n "$1"; shift; while [ "$1" != -- ]; do echo $$ > "$1"; shift; done; shift; exec "$@"'
)
"""A fixed script: the process joins its groups before it becomes the unit, so that no page of its
memory and no thread is accounted elsewhere. The command comes as arguments, never as text."""


def _entering(netns: str) -> list[str]:
    """The prefix that runs a command in this network namespace, with all else as before.

    nsenter becomes the command itself: no process stays between.

    Raises:
        RuntimeUnavailableError: nsenter is missing, or this process may not enter the namespace.
    """
    program = shutil.which("nsenter")
    if program is None or os.geteuid() != 0:
        raise RuntimeUnavailableError(
            "a client cannot enter a container's network namespace",
            why="the nsenter command is missing" if program is None else "only root may",
            remedy="apt-get install util-linux, or run as root; or set platform.endpoint to bridge",
        )
    return [program, f"--net={netns}", "--"]


class NativeRunning(InPlaceRunning):
    """A native process and its descendants."""

    def __init__(
        self, unit: Unit, process: subprocess.Popen[str], group: ControlGroup | None
    ) -> None:
        self.unit = unit
        self._process = process
        self._group = group
        self._stopped = False

    def accounting(self) -> Accounting:
        pids = (self._process.pid,)
        return self._group.accounting(pids) if self._group else Accounting(pids=pids)

    def exited(self) -> Exit | None:
        status = self._process.poll()
        return None if status is None else Exit.of(status, killed_by=-status)

    def lines(self) -> Iterator[str]:
        yield from self._process.stdout or ()

    def pause(self) -> None:
        if self._group:
            self._group.freeze(True)
        else:
            self._signal_tree(signal.SIGSTOP)

    def resume(self) -> None:
        if self._group:
            self._group.freeze(False)
        else:
            self._signal_tree(signal.SIGCONT)

    def confine(self, cpuset: str) -> None:
        if self._group is None:
            raise RuntimeUnavailableError(
                "a unit without a control group cannot be confined",
                where=self.unit.site.name,
                remedy="run as root, or without limits.cpuset",
            )
        self._group.confine(cpuset)

    def terminate(self) -> None:
        self._signal_tree(signal.SIGTERM)

    def stop(self) -> None:
        if self._stopped:
            return
        self._stopped = True
        with contextlib.suppress(OSError, RuntimeUnavailableError):
            self.resume()
        if self._process.poll() is None:
            if self.unit.grace_s > 0:
                self.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(self.unit.grace_s)
            self._signal_tree(signal.SIGKILL)
        self._process.wait()
        self._kill_rest()
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._group:
            self._group.remove()
        if self.unit.site.data_on_host is not None:
            shutil.rmtree(self.unit.site.data_on_host, ignore_errors=True)

    def collect_logs(self, into: Path) -> None:
        into.mkdir(parents=True, exist_ok=True)
        site = self.unit.site
        for source in (site.data_on_host or site.conf_on_host, site.conf_on_host):
            for log in sorted(source.glob("*.log")) + sorted(source.glob("log/*.log")):
                shutil.copyfile(log, into / f"{site.name}-{log.name}")

    def _kill_rest(self) -> None:
        """Kill processes that outlive the first one; what does not die is left for `tare clean`."""
        ends = time.monotonic() + _KILLED_S
        while (rest := self._rest()) and time.monotonic() < ends:
            for process in rest:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(rest, timeout=_LOOK_AGAIN_S)

    def _rest(self) -> list[psutil.Process]:
        if self._group is None:
            return _of_session(self._process.pid)
        found = []
        for pid in self._group.thaw_and_members():
            with contextlib.suppress(psutil.Error):
                found.append(psutil.Process(pid))
        return found

    def _signal_tree(self, number: signal.Signals) -> None:
        if self._process.poll() is not None:  # another process may have its number by now
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            root = psutil.Process(self._process.pid)
            for process in [root, *root.children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.send_signal(number)


def _of_session(session: int) -> list[psutil.Process]:
    """Processes of a session that this process began, by their mark: numbers are reused."""
    own = mark()
    found = []
    for pid in psutil.pids():
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            if os.getsid(pid) == session and process.environ().get(STARTER_VARIABLE) == own:
                found.append(process)
    return found


class NativeRuntime(InPlaceRuntime):
    """Runs units in place, from the artifact tree."""

    name = "native"
    engine_processes: tuple[str, ...] = ()
    head_start_s = 2.0

    def __init__(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> None:
        """Prepare for one run.

        Args:
            run: the run's name, the label of everything launched.
            work: directory for configuration and data of units.
            pool: where addresses come from.
            routable: use labelled host addresses instead of loopback, so that clients in bridged
                containers can reach the units.
        """
        self._run = run
        self._work = work
        self._pool = pool
        self._routable = routable
        self._groups = os.geteuid() == 0 and cgroups.version() > 0

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        role = wanted["role"]
        address = ""
        if role == "database":
            address = self._pool.host() if self._routable else self._pool.loopback()
        site = Site.in_place(name, self._work / name, address, _PATH)
        return replace(site, ways={"loopback": Way(address, _PATH)}) if address else site

    def prove(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str]
    ) -> dict[str, Any]:
        return {}

    def launch(self, unit: Unit) -> NativeRunning:
        limited = any((unit.limits.cpus, unit.limits.cpuset, unit.limits.memory))
        group: ControlGroup | None = None
        if self._groups or limited:
            group = ControlGroup(self._run, unit.site.name)
            group.create(unit.limits)
        join = group.procs_files() if group else []
        enter = _entering(unit.netns) if unit.netns else []
        if unit.snapshot is not None and unit.site.data_on_host is not None:
            unit.snapshot.fill(unit.site.data_on_host)
        for name, file in unit.shown.items():
            (unit.site.conf_on_host / name).symlink_to(file)
        errors = unit.site.conf_on_host / "stderr.log"
        with errors.open("wb") as stderr:
            process = subprocess.Popen(
                [
                    "/bin/sh",
                    "-c",
                    _JOIN_AND_EXEC,
                    "sh",
                    str(open_files()),
                    *join,
                    "--",
                    *enter,
                    *unit.command,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if unit.role == "client" else stderr,
                stderr=stderr,
                text=True,
                env={
                    "PATH": os.environ.get("PATH", os.defpath),
                    "HOME": str(unit.site.conf_on_host),
                    **unit.environment,
                    **labels(self._run),
                },
                cwd=unit.site.conf_on_host,
                start_new_session=True,
            )
        return NativeRunning(unit, process, group)

    def release_group(self, group: str) -> None:
        """Native units share nothing."""

    def close(self) -> None:
        cgroups.remove_run(self._run)
        self._pool.release()


def leftovers() -> dict[psutil.Process, str]:
    """Processes of dead runs, by the labels in their environment or by control group.

    Each is known by its number and its start, because numbers are reused.
    """
    found: dict[psutil.Process, str] = {}
    for pid in psutil.pids():
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            environment = process.environ()
            run = environment.get(RUN_VARIABLE)
            ours = without_owner(environment.get(STARTER_VARIABLE, ""))
            if run and ours and pid != os.getpid():
                found[process] = run
    for pid in cgroups.thaw_and_members(cgroups.leftovers()):
        with contextlib.suppress(psutil.Error):
            found.setdefault(psutil.Process(pid), "")
    return found


def remove(found: Iterable[psutil.Process], wait_s: float = 10.0) -> None:
    """Kill processes of dead runs and remove the control groups that they leave empty."""
    processes = []
    for process in found:
        with contextlib.suppress(psutil.Error):  # gone, its number reused, or another user's
            process.kill()
            processes.append(process)
    psutil.wait_procs(processes, timeout=wait_s)
    for group in cgroups.leftovers():
        cgroups.remove_empty(group)


def runs(process: psutil.Process) -> bool:
    """Whether the process is there, and is not a zombie."""
    try:
        return process.is_running() and bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
