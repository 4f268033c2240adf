"""Units as processes of hosts that SSH reaches, each in its own control group."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tare.errors import RuntimeUnavailableError
from tare.machines.cgroups import CFS_PERIOD_US, Accounting
from tare.machines.ssh import HostError
from tare.runtimes.in_place import InPlaceRunning, InPlaceRuntime
from tare.runtimes.poll import RateLimitedPoll
from tare.runtimes.ssh.connectivity import Answering, prove
from tare.runtimes.ssh.data import fill
from tare.runtimes.ssh.names import GROUPS, MARK_VARIABLE
from tare.runtimes.ssh.transfer import fetch, send_directory
from tare.runtimes.unit import Exit, Site, SiteOptions, Unit

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from tare.runtimes.ssh.host_machine import HostMachine
    from tare.runtimes.ssh.hosts import Hosts
    from tare.study.platform import Platform

NATIVE = "ssh-native"
PATH = "network between hosts"
_STARTED_S = 20.0
"""longest wait for a first process, in _BEGUN"""
_SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
_BEGIN = """
supervise=$1 home=$2
shift 2
setsid /bin/sh "$supervise" "$home" log "$@" </dev/null >/dev/null 2>&1 &
"""
_BEGUN = """
tries=400
while [ ! -f "$1/pid" ]; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || exit 1
  sleep 0.05
done
cat "$1/pid"
"""


class HostRunning(InPlaceRunning):
    """A unit that runs on a host."""

    def __init__(
        self,
        unit: Unit,
        machine: HostMachine,
        home: PurePosixPath,
        groups: dict[str, str],
        pid: int,
        output: subprocess.Popen[bytes] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take over a unit that was begun.

        Args:
            unit: what was launched, its site settled.
            machine: its host.
            home: its directory there.
            groups: its control groups there, by controller.
            pid: its first process there.
            output: the channel of its standard output, of a client.
            clock: monotonic seconds.
        """
        self.unit = unit
        self._machine = machine
        self._home = str(home)
        self._output = output
        self._poll = RateLimitedPoll(self._poll_once, clock)
        self._stopped = False
        self._accounting = Accounting(groups, (pid,), machine)
        machine.moves(unit.site.name)

    def accounting(self) -> Accounting:
        return self._accounting

    def exited(self) -> Exit | None:
        return self._poll.exited()

    def _poll_once(self) -> Exit | None:
        told = self._machine.call("state.sh", self._home)
        if told == "runs":
            return None
        if told.isdigit():
            return Exit.of(int(told), killed_by=int(told) - 128)  # as a shell tells it
        return Exit(-1, f"it and its supervisor are gone from {self._machine.host}")

    def lines(self) -> Iterator[str]:
        if self._output is None or self._output.stdout is None:
            return
        for line in self._output.stdout:
            yield line.decode(errors="replace")
        self._output.wait()
        if not self._stopped:
            # its output is needed here; if the host is gone, that is the reason for a silent end
            fetch(
                self._machine.connection, f"{self._home}/conf", "*.hlog", self._conf,
            )  # fmt: skip

    @property
    def _conf(self) -> Path:
        return self.unit.site.conf_on_host

    def pause(self) -> None:
        self._machine.call("freeze.sh", self._home, "1")
        self._machine.stands_still(self.unit.site.name)

    def resume(self) -> None:
        self._machine.moves(self.unit.site.name)
        self._machine.call("freeze.sh", self._home, "0")

    def confine(self, cpuset: str) -> None:
        if self._machine.cpuset(cpuset) is None:
            return
        paths = self._accounting.paths
        group = paths.get("cpuset") or paths.get("unified")
        if group is None:
            raise _needs_root("a unit without a control group cannot be confined", self._machine)
        script = 'printf "%s" "$2" >"$1/cpuset.cpus"'
        done = self._machine.connection.script(script, group, cpuset)
        if done.status != 0:
            raise self._machine.connection.failed("cpuset.cpus", done)

    def terminate(self) -> None:
        self._machine.call("terminate.sh", self._home)

    def stop(self) -> None:
        if self._stopped:
            return
        self._stopped = True
        try:
            self._machine.end(self._home, self.unit.grace_s)
        except HostError:
            # the run goes on if a client does not end: `settle` or `tare clean` ends it
            if self.unit.role == "database":
                raise
        finally:
            close_door(self.unit, self._machine)
            if self._output is not None:
                _discard(self._output)
            shutil.rmtree(self._conf.parent, ignore_errors=True)
            self._machine.stands_still(self.unit.site.name)

    def collect_logs(self, into: Path) -> None:
        names = "conf/*.log data/*.log data/log/*.log"
        prefix = f"{self.unit.site.name}-"
        with contextlib.suppress(HostError):
            fetch(self._machine.connection, self._home, names, into, prefix, growing=True)


def close_door(unit: Unit, machine: HostMachine) -> None:
    """Remove the forward to a node's port from here, which would outlive the node."""
    site = unit.site
    if site.here is not None:
        machine.connection.cancel_port(site.here[1], site.peers, site.binds(unit.ports[0]))


def _discard(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _needs_root(what: str, machine: HostMachine) -> RuntimeUnavailableError:
    return RuntimeUnavailableError(
        what,
        where=str(machine.host),
        why="only root makes control groups there",
        remedy="log in as root or set sudo in the inventory (ansible_become), or leave limits out",
    )


class SshNativeRuntime(InPlaceRuntime):
    """Runs units in place on hosts, from the files that were brought there."""

    name = NATIVE
    engine_processes: tuple[str, ...] = ()
    head_start_s = 6.0

    def __init__(self, work: Path, hosts: Hosts, group: str = "") -> None:
        """Prepare for one run; nothing is asked yet.

        Args:
            work: directory for configuration of units, before it goes to their hosts.
            hosts: of the run.
            group: the group whose hosts take its nodes; empty: the inventory's hosts for nodes.
        """
        self._work = work
        self.hosts = hosts
        self._of = group

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        role, cluster, shift = wanted["role"], wanted["group"], 0
        if role == "database":
            machine = self.hosts.node(cluster, self._of)
            shift = self.hosts.cluster(cluster).shift
        else:
            machine = self.hosts.client(name)
        here, there = self._work / name, machine.home(name)
        for part in ("conf", "data"):
            (here / part).mkdir(parents=True, exist_ok=True)
        address = machine.host.service_address if role == "database" else ""
        if role == "client":
            machine.read_clock()
        return Site(
            name=name,
            conf=str(there / "conf"),
            conf_on_host=here / "conf",
            data=str(there / "data"),
            data_on_host=here / "data",
            listen=address,
            peers=address,
            endpoint_host=address,
            path=PATH if role == "database" else "",
            shift=shift,
            machine=machine.name,
            patience=machine.patience,
            clock=machine.clock,
        )

    def release_group(self, group: str) -> None:
        self.hosts.release(group)

    def prove(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str]
    ) -> dict[str, Any]:
        answering = self.answering(platform)
        return prove(self.hosts, nodes, port, clients, group=self._of, answering=answering)

    def answering(self, platform: Platform) -> Answering | None:
        """What answers instead of nodes of such a platform; None: a process of their hosts."""
        del platform
        return None

    def launch(self, unit: Unit) -> HostRunning:
        site = unit.site
        machine = self.hosts.machines[site.machine]
        machine.settle()
        home = machine.home(site.name)
        output: subprocess.Popen[bytes] | None = None
        try:
            send_directory(machine.connection, site.conf_on_host.parent, str(home))
            if unit.snapshot is not None:
                fill(machine, unit.snapshot, str(home / "data"), self.hosts.say)
            groups = self._group(unit, machine, home)
            output = self._begin(unit, machine, home, groups)
            begun = ("/bin/sh", "-c", _BEGUN, "sh", str(home))
            pid = int(machine.connection.check(*begun, within_s=_STARTED_S + 10.0))
            if unit.role == "database":
                site = self.settled(unit, machine)
        except BaseException:
            with contextlib.suppress(HostError):
                machine.end(str(home), 0.0)
            if output is not None:
                _discard(output)
            raise
        return HostRunning(replace(unit, site=site), machine, home, groups, pid, output)

    def settled(self, unit: Unit, machine: HostMachine) -> Site:
        """A node's site with the ways to its ports: this process goes through the connection."""
        site, port = unit.site, unit.ports[0]
        door = machine.connection.forward_port(site.peers, site.binds(port))
        reached = {one: site.binds(one) for one in unit.ports}
        return replace(site, here=("127.0.0.1", door), reached=reached)

    def _group(self, unit: Unit, machine: HostMachine, home: PurePosixPath) -> dict[str, str]:
        limits = unit.limits
        if not machine.groups:
            if any((limits.cpus, limits.cpuset, limits.memory)):
                raise _needs_root("limits cannot be set", machine)
            return {}
        name = f"{GROUPS}/{machine.name}/{machine.mark}/{unit.site.name}"
        quota = round(limits.cpus * CFS_PERIOD_US) if limits.cpus else None
        values = (quota, machine.cpuset(limits.cpuset), limits.memory)
        words = ["-" if value is None else str(value) for value in values]
        told = machine.call("group.sh", str(home), name, *words)
        return dict(line.split(" ", 1) for line in told.splitlines())

    def _begin(
        self, unit: Unit, machine: HostMachine, home: PurePosixPath, groups: dict[str, str]
    ) -> subprocess.Popen[bytes] | None:
        environment = {
            "PATH": _SEARCH_PATH,
            "HOME": unit.site.conf,
            **unit.environment,
            MARK_VARIABLE: machine.mark,
        }
        words = [
            *(f"{name}={value}" for name, value in environment.items()),
            *("/bin/sh", machine.script("join.sh"), str(home), str(machine.open_files)),
            *(f"{at}/cgroup.procs" for at in groups.values()),
            *("--", *unit.command),
        ]
        supervise = machine.script("supervise.sh")
        if unit.role == "client":
            return machine.connection.start("/bin/sh", supervise, str(home), "-", *words)
        done = machine.connection.script(_BEGIN, supervise, str(home), *words)
        if done.status != 0:
            raise machine.connection.failed("setsid", done)
        return None

    def close(self) -> None:
        """Nothing is closed: the hosts outlive their runtimes, which share them."""
