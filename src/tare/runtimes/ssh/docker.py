"""Units as containers of the Docker engines of hosts that SSH reaches."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from docker.errors import DockerException
from docker.types import LogConfig, Mount, Ulimit

from tare.all_steps import faults_of, raise_first
from tare.errors import RuntimeUnavailableError, TareError
from tare.machines.cgroups import Accounting
from tare.runtimes import confinement
from tare.runtimes.docker import CONF, DATA, UNIT_LABEL, DockerRunning
from tare.runtimes.docker_data import give_volume, make_directory, put_snapshot
from tare.runtimes.docker_engine import ENGINE_PROCESSES, own_volume
from tare.runtimes.ssh.data import fill
from tare.runtimes.ssh.docker_published import (
    PUBLISHED,
    PublishedAnswer,
    bindings,
    network_name,
    on_its_network,
    own_network,
    path_into,
    remove_network,
)
from tare.runtimes.ssh.names import MARK_LABEL
from tare.runtimes.ssh.native import PATH, SshNativeRuntime, close_door
from tare.runtimes.ssh.transfer import fetch, send_directory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path, PurePosixPath

    from tare.runtimes.ssh.connectivity import Answering
    from tare.runtimes.ssh.host_machine import HostMachine
    from tare.runtimes.ssh.hosts import Hosts
    from tare.runtimes.unit import Exit, Site, SiteOptions, Unit
    from tare.study.platform import Platform

DOCKER = "ssh-docker"
_GROUPS = """
for at in $(cut -d: -f2- "/proc/$1/cgroup"); do
  kind=${at%%:*} path=${at#*:}
  case $path in *"$2"*) ;; *) continue ;; esac
  if [ -z "$kind" ] && [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    echo "unified /sys/fs/cgroup$path"
  fi
  for one in cpu cpuacct cpuset memory freezer blkio; do
    case ",$kind," in *",$one,"*)
      if [ -d "/sys/fs/cgroup/$one$path" ]; then echo "$one /sys/fs/cgroup/$one$path"; fi ;;
    esac
  done
done
"""
_HAND_OVER = 'cd "$1" && chmod -R a+rX conf && { [ ! -d data ] || chown -R "$2:$2" data; }'
"""the same as `confinement.hand_over` does here"""


class HostDockerRunning(DockerRunning):
    """A container on a host."""

    run_label = MARK_LABEL

    def __init__(
        self, unit: Unit, container: Any, machine: HostMachine, home: PurePosixPath
    ) -> None:
        """Take over a container that runs.

        Args:
            unit: what was launched, its site settled.
            container: of the host's engine.
            machine: its host.
            home: its directory there.
        """
        super().__init__(unit, container, machine.engine())
        self._machine = machine
        self._home = home
        machine.moves(unit.site.name)

    def accounting(self) -> Accounting:
        if self._accounting is None:
            pid = int(self._inspect()["State"]["Pid"])
            told = self._machine.connection.script(_GROUPS, str(pid), self._container.id).text
            groups = dict(line.split(" ", 1) for line in told.splitlines())
            self._accounting = Accounting(groups, (pid,), self._machine, self._paused)
        return self._accounting

    def _inspect(self) -> dict[str, Any]:
        self._machine.connection.wake()  # the engine of a suspended machine never answers
        return super()._inspect()

    def _ask(self, verb: str, *arguments: str) -> None:
        self._machine.connection.wake()
        super()._ask(verb, *arguments)

    def exited(self) -> Exit | None:
        try:
            return super().exited()
        except RuntimeUnavailableError:
            self._machine.connection.run("true")  # raises if the host is gone
            raise

    def lines(self) -> Iterator[str]:
        yield from super().lines()
        if not self._stopped:
            conf = self.unit.site.conf_on_host
            fetch(self._machine.connection, str(self._home / "conf"), "*.hlog", conf)

    def packet_path(self) -> str:
        return self.unit.site.path

    def pause(self) -> None:
        super().pause()
        self._machine.stands_still(self.unit.site.name)

    def resume(self) -> None:
        self._machine.moves(self.unit.site.name)
        super().resume()

    def stop(self) -> None:
        if self._stopped:
            return
        self._machine.moves(self.unit.site.name)
        ends = partial(self._machine.end, str(self._home), 0.0)
        try:
            faults = faults_of((super().stop, ends))
        finally:
            close_door(self.unit, self._machine)
            shutil.rmtree(self.unit.site.conf_on_host.parent, ignore_errors=True)
            self._machine.stands_still(self.unit.site.name)
        # the run goes on if a client cannot be ended: it is ended before the next unit
        if self.unit.role == "database":
            raise_first(faults)

    def _kill_without_engine(self) -> None:
        self._machine.remove_container(self._container.id, _volume(self.unit))

    def collect_logs(self, into: Path) -> None:
        self._machine.connection.wake()
        with contextlib.suppress(TareError):
            super().collect_logs(into)
        prefix = f"{self.unit.site.name}-"
        with contextlib.suppress(TareError):
            home = str(self._home)
            fetch(self._machine.connection, home, "conf/*.log", into, prefix, growing=True)


class SshDockerRuntime(SshNativeRuntime):
    """Runs units in containers on hosts, of images that their engines made of the same files."""

    name = DOCKER
    engine_processes: tuple[str, ...] = ENGINE_PROCESSES

    def __init__(self, work: Path, hosts: Hosts, group: str = "") -> None:
        """As SshNativeRuntime."""
        super().__init__(work, hosts, group)
        self._joined: dict[str, list[tuple[HostMachine, str]]] = {}
        """cluster to the hosts and networks of its nodes"""

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        site = super().site(name, **wanted)
        data_on_host = site.data_on_host if wanted["storage"] == "directory" else None
        site = replace(site, conf=CONF, data=DATA, data_on_host=data_on_host)
        if wanted["role"] == "database" and wanted["network"] == PUBLISHED:
            machine = self.hosts.machines[site.machine]
            joined = self._joined.setdefault(wanted["group"], [])
            joined.append((machine, network_name(machine, name)))
            own = own_network(machine, name)
            site = replace(site, listen=own.address, network=own.name)
        return site

    def release_group(self, group: str) -> None:
        super().release_group(group)
        for machine, network in self._joined.pop(group, []):
            # if the host is gone, `tare clean` finds it by its label
            with contextlib.suppress(TareError, DockerException, OSError):
                remove_network(machine, network)

    def answering(self, platform: Platform) -> Answering | None:
        return PublishedAnswer(self.hosts.say) if platform.network == PUBLISHED else None

    def settled(self, unit: Unit, machine: HostMachine) -> Site:
        site = super().settled(unit, machine)
        if site.network:
            site = replace(site, path=f"{PATH}, then {path_into(machine, site.peers)}")
        return site

    def close(self) -> None:
        for group in list(self._joined):
            self.release_group(group)
        super().close()

    def launch(self, unit: Unit) -> HostDockerRunning:  # type: ignore[override]  # a running unit
        machine = self.hosts.machines[unit.site.machine]
        machine.settle()
        machine.engine()
        home, site = machine.home(unit.site.name), unit.site
        try:
            send_directory(machine.connection, unit.site.conf_on_host.parent, str(home))
            if unit.snapshot is not None and unit.storage == "directory":
                fill(machine, unit.snapshot, str(home / "data"), self.hosts.say)
            container = self._start(unit, machine, home)
            if unit.role == "database":
                site = self.settled(unit, machine)
            return HostDockerRunning(replace(unit, site=site), container, machine, home)
        except BaseException as error:
            _take_away(replace(unit, site=site), machine, home)
            if not isinstance(error, (DockerException, OSError)):
                raise
            raise RuntimeUnavailableError(
                f"docker could not start {unit.site.name}",
                where=str(machine.host),
                why=str(error),
                remedy=f"{machine.connection.by_hand()} docker info",
            ) from error

    def _start(self, unit: Unit, machine: HostMachine, home: PurePosixPath) -> Any:
        client = machine.engine()
        mounts = [Mount(CONF, str(home / "conf"), type="bind", read_only=unit.role == "database")]
        if unit.role == "database" and unit.storage == "directory":
            mounts.append(Mount(DATA, str(home / "data"), type="bind"))
        login = int(machine.facts.get("user", "0"))
        # the owner of the unit's directories there: without capabilities nobody else may read them
        user = confinement.user_of(unit, login)
        if user != login:
            machine.connection.check("/bin/sh", "-c", _HAND_OVER, "sh", home, str(user))
        labels = {MARK_LABEL: machine.mark, UNIT_LABEL: unit.site.name}
        if unit.role == "database" and unit.storage == "volume":
            volume = _volume(unit)
            own_volume(client, volume, {MARK_LABEL: machine.mark})
            mount = Mount(DATA, volume, type="volume")
            give_volume(client.api, unit.bits.image, mount, user, {MARK_LABEL: machine.mark})
            mounts.append(mount)
        files = machine.open_files
        ulimits = [Ulimit(name="nofile", soft=files, hard=files)]
        if machine.locked_memory is not None:  # as a process has it there
            soft, hard = machine.locked_memory
            ulimits.append(Ulimit(name="memlock", soft=soft, hard=hard))
        site, published = unit.site, {}
        if site.network:
            published = bindings(machine, site.peers, map(site.binds, unit.ports))
        host_config = client.api.create_host_config(
            network_mode=site.network or "host",
            port_bindings=published,
            mounts=mounts,
            ulimits=ulimits,
            nano_cpus=round(unit.limits.cpus * 1e9) if unit.limits.cpus else None,
            cpuset_cpus=machine.cpuset(unit.limits.cpuset),
            mem_limit=unit.limits.memory,
            log_config=LogConfig(type="json-file", config={"max-size": "64m"}),
            **confinement.settings(unit),
        )
        created = client.api.create_container(
            unit.bits.image,
            name=_name(unit, machine),
            entrypoint=unit.command[:1],
            command=unit.command[1:],
            environment=dict(unit.environment),
            labels=labels,
            host_config=host_config,
            networking_config=on_its_network(client, site) if published else None,
            ports=list(published),
            user=f"{user}:{user}",
        )
        if unit.role == "database" and unit.storage == "layer":
            make_directory(client.api, created["Id"], DATA, user)
        if unit.snapshot is not None and unit.storage != "directory":
            put_snapshot(client.api, created["Id"], unit.snapshot, DATA, user)
        client.api.start(created["Id"])
        return client.containers.get(created["Id"])


def _name(unit: Unit, machine: HostMachine) -> str:
    return f"tare-{machine.run}-{unit.site.name}"


def _volume(unit: Unit) -> str:
    """The name of a node's volume; empty: it has no volume."""
    own = unit.role == "database" and unit.storage == "volume"
    return f"tare-{unit.site.name}-data" if own else ""


def _take_away(unit: Unit, machine: HostMachine, home: PurePosixPath) -> None:
    """Remove all of a unit that did not start; others report the reason for that."""
    faults_of(
        [
            partial(machine.remove_container, _name(unit, machine), _volume(unit)),
            partial(machine.end, str(home), 0.0),
            partial(close_door, unit, machine),
        ]
    )
