"""The LXC runtime: as native units, from the same files, but each in a container of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from tare.errors import RuntimeUnavailableError
from tare.machines import cgroups
from tare.runtimes.docker_ways import BETWEEN, BRIDGE
from tare.runtimes.lxc import bridge, configuration, groups, program
from tare.runtimes.lxc.running import LxcRunning
from tare.runtimes.native import NativeRuntime
from tare.runtimes.unit import Site, SiteOptions, Unit, Way
from tare.starter import labels
from tare.study.platform import BETWEEN_NODES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tare.machines.addresses import AddressPool
    from tare.runtimes.lxc.bridge import Bridge
    from tare.runtimes.lxc.configuration import Line

_LOOPBACK = "loopback of the container"


class LxcRuntime(NativeRuntime):
    """Runs units in containers that show the machine's files."""

    name = "lxc"
    engine_processes: tuple[str, ...] = (program.COMMAND,)

    def __init__(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> None:
        super().__init__(run, work, pool, routable=routable)
        self._bridges: dict[str, Bridge] = {}

    def probe(self) -> str | None:
        try:
            program.usable()
        except RuntimeUnavailableError as error:
            return f"{error.what}: {error.why}"
        return None

    def environment(self) -> dict[str, Any]:
        if self.probe() is not None:
            return {}
        return {
            "version": program.usable().version,
            "cgroup version": str(cgroups.version()),
            "configuration": str(configuration.COMMON),
        }

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        """As a native unit's, but on a bridge with an address of its own, a client, too.

        The container's own address is also where clients inside it reach the unit: the kernel
        sends packets to it by the container's loopback, and the unit need not listen twice.
        """
        if wanted["network"] == "host":
            return super().site(name, **wanted)
        joined = self._bridge(wanted["group"])
        client = wanted["role"] == "client"
        address = str(next(joined.clients if client else joined.nodes))
        site = Site.in_place(name, self._work / name, address, BRIDGE)
        site = replace(site, network=joined.name)
        if client:  # nothing calls it
            return replace(site, peers="", endpoint_host="")
        ways = {
            "loopback": Way(address, _LOOPBACK, inside=True),
            "bridge": Way(address, BRIDGE),
            BETWEEN_NODES: Way(address, BETWEEN, beside=True),
        }
        return replace(site, ways=ways)

    def _bridge(self, group: str) -> Bridge:
        """The group's bridge, made at first use."""
        if group not in self._bridges:
            self._pool.guard()
            self._bridges[group] = bridge.make(self._run, self._pool.network())
        return self._bridges[group]

    def release_group(self, group: str) -> None:
        joined = self._bridges.pop(group, None)
        if joined is not None:
            bridge.remove(joined.name)

    def launch(self, unit: Unit) -> LxcRunning:
        site = unit.site
        path = shutil.which(program.COMMAND)
        if path is None:
            raise RuntimeUnavailableError(
                "LXC could not start a container",
                where=site.name,
                why=f"the command {program.COMMAND} is missing",
                remedy=program.INSTALL,
            )
        if unit.snapshot is not None and site.data_on_host is not None:
            unit.snapshot.fill(site.data_on_host)
        for name, file in unit.shown.items():
            (site.conf_on_host / name).symlink_to(file)
        running = self._start(unit, path)
        try:
            running.await_unit()
        except BaseException:
            running.stop()
            raise
        return running

    def _start(self, unit: Unit, path: str) -> LxcRunning:
        site, home = unit.site, unit.site.conf_on_host.parent.absolute()
        own = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(site.conf_on_host),
            **unit.environment,
            **labels(self._run),
        }
        address = site.listen if site.network else ""
        hosts = configuration.hosts(site.name, address)
        configuration.hosts_of(home).write_text(hosts, encoding="utf-8")
        lines = configuration.container(
            self._run, site.name, home, unit.limits, self._network(unit)
        )
        lines.append(("lxc.init.cwd", str(site.conf_on_host.absolute())))
        groups.prepare(self._run)
        with (site.conf_on_host / "stderr.log").open("wb") as stderr:
            process = subprocess.Popen(
                program.command(
                    path,
                    self._run,
                    site.name,
                    home,
                    site.conf_on_host,
                    lines,
                    [*_with(own), *unit.command],
                ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if unit.role == "client" else stderr,
                stderr=stderr,
                text=True,
                env=own,
                start_new_session=True,
            )
        return LxcRunning(unit, process, self._run)

    def _network(self, unit: Unit) -> Sequence[Line]:
        if unit.netns:
            return configuration.in_namespace(unit.netns)
        for joined in self._bridges.values():
            if joined.name == unit.site.network:
                return configuration.on_bridge(joined, unit.site.listen)
        return configuration.on_host()

    def close(self) -> None:
        for group in list(self._bridges):
            self.release_group(group)
        groups.remove_run(self._run)
        super().close()


def _with(environment: dict[str, str]) -> list[str]:
    """The prefix that gives a command this environment, of which LXC hands nothing on.

    As arguments, because a line of the configuration could not hold every value.
    """
    return [shutil.which("env") or "/usr/bin/env", *(f"{k}={v}" for k, v in environment.items())]
