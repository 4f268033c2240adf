"""The gVisor runtime: Docker's containers, started by runsc, with the sandbox's differences."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import psutil

from tare.errors import RuntimeUnavailableError
from tare.machines import cgroups
from tare.records.manifest import HIDDEN
from tare.runtimes.docker import DATA, DockerRunning, DockerRuntime
from tare.runtimes.docker_engine import ENGINE_PROCESSES, labelled
from tare.runtimes.gvisor.declaration import NO_LOOPBACK
from tare.runtimes.gvisor.entry import platform_of, usable
from tare.study.platform import BETWEEN_NODES, BETWEEN_PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Collection

    from tare.machines.addresses import AddressPool
    from tare.runtimes.gvisor.declaration import GVisor
    from tare.runtimes.unit import Site, SiteOptions, Unit

SANDBOX = "runsc-sandbox"
"""Name of a container's first process, which is the kernel for everything inside."""
_NOT_BESIDE = "a client cannot run beside a node: its network is inside the sandbox"
_FOR_CONTAINERS = ("runsc", "containerd-shim")
"""names of programs that run one container each"""
_UNSEEN = ("class archive", "largest memory in huge pages")
"""facts of a process, which is the sandbox's here"""


class GVisorRunning(DockerRunning):
    """A container, whose first process is the sandbox."""

    def confine(self, cpuset: str) -> None:
        """By the control group: runsc has no update."""
        try:
            cgroups.confine(self.accounting().paths, cpuset)
        except (OSError, KeyError) as error:
            self._inspect()  # says so if somebody has removed it
            raise RuntimeUnavailableError(
                "a sandbox cannot be moved to other CPUs",
                where=self.unit.site.name,
                why=str(error),
            ) from error

    def facts(self) -> dict[str, str]:
        """Facts inside the sandbox, instead of the kernel's facts of the sandbox's process."""
        state = self._inspect()
        limits = {one["Name"]: str(one["Soft"]) for one in state["HostConfig"]["Ulimits"]}
        platform = platform_of(command_of(self.accounting().pid))
        facts = {
            "sandbox": f"gVisor on {platform}" if platform else "gVisor",
            "seccomp": "the sandbox's own filter",
            "open files": limits["nofile"],
            "locked memory": limits["memlock"].replace("-1", "unlimited"),
            **dict.fromkeys(_UNSEEN, HIDDEN),
        }
        if self.unit.role == "database":
            facts["file system"] = _file_system(_data_of(state))
        return facts


class GVisorRuntime(DockerRuntime):
    """Runs units in sandboxes, of Docker's images."""

    running = GVisorRunning
    engine_processes: tuple[str, ...] = (*ENGINE_PROCESSES, "runsc")

    def __init__(
        self, declared: GVisor, run: str, work: Path, pool: AddressPool, *, routable: bool = False
    ) -> None:
        super().__init__(run, work, pool, routable=routable)
        self.name = declared.name
        self._declared = declared

    def environment(self) -> dict[str, Any]:
        facts = super().environment()
        if facts:
            entry = usable(self._declared.entry, self._declared.platform)
            facts["gVisor"] = entry.words
        return facts

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        """A site without ways that begin in a container's network namespace.

        The sandbox has taken the namespace's address, and has its own loopback.
        """
        site = super().site(name, **wanted)
        faults = {"loopback": NO_LOOPBACK}
        faults |= dict.fromkeys((BETWEEN_NODES, BETWEEN_PUBLISHED), _NOT_BESIDE)
        ways = {
            at: replace(way, fault=way.fault or faults.get(at, "")) for at, way in site.ways.items()
        }
        return replace(site, ways=ways)

    def launch(self, unit: Unit) -> DockerRunning:
        running = super().launch(unit)
        command = command_of(running.accounting().pid)
        if command and SANDBOX not in command[0]:
            running.stop()
            raise RuntimeUnavailableError(
                "a container was not started in a sandbox",
                where=unit.site.name,
                why=f"its first process is {command[0]}",
                remedy=f"see what Docker's entry {self._declared.entry} starts: docker info",
            )
        return running

    def _remove_left(self) -> None:
        """Also the sandboxes of containers that did not start, which Docker forgets alive."""
        found = []
        for unit in self._left:
            labels = [f"{name}={value}" for name, value in self._labels(unit).items()]
            look = partial(labelled, self.client, *labels)
            found += self._client_call(look, f"look for {unit.site.name}")["containers"]
        super()._remove_left()
        end_sandboxes([one.id for one in found])

    def _bounds(self) -> dict[str, Any]:
        """With the engine's entry that starts it."""
        return {**super()._bounds(), "runtime": self._declared.entry}


def command_of(pid: int) -> tuple[str, ...]:
    """The command line of a process; empty where it has ended."""
    try:
        return tuple(psutil.Process(pid).cmdline())
    except (psutil.Error, ValueError):
        return ()


def end_sandboxes(containers: Collection[str]) -> None:
    """Kill, by their ids, processes of containers that the engine no longer has."""
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or [""]
        for_them = any(one in word for one in containers for word in command[1:])
        if for_them and Path(command[0]).name.startswith(_FOR_CONTAINERS):
            with contextlib.suppress(psutil.Error):
                process.kill()


def _data_of(state: dict[str, Any]) -> Path:
    """The data directory of a container as this machine has it."""
    mounted = [one["Source"] for one in state["Mounts"] if one["Destination"] == DATA]
    return Path(mounted[0] if mounted else state["GraphDriver"]["Data"].get("MergedDir") or "/")


def _file_system(path: Path) -> str:
    """Name of the file system of a directory of this machine."""
    mounted = {Path(one.mountpoint): one.fstype for one in psutil.disk_partitions(all=True)}
    return next((mounted[one] for one in (path, *path.parents) if one in mounted), "")
