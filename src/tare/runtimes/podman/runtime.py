"""The Podman runtime: like Docker's, whose API Podman has, except for the differences."""

from __future__ import annotations

import atexit
import resource
import subprocess
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from docker.errors import DockerException
from docker.types import Ulimit

from tare.errors import RuntimeUnavailableError
from tare.runtimes.docker import DockerRunning, DockerRuntime
from tare.runtimes.docker_engine import BY_DNAT, PUBLISHED, nat_rules
from tare.runtimes.docker_ways import BETWEEN_BY_DNAT
from tare.runtimes.podman.engine import COMMAND, ENGINE, PROCESSES, serving
from tare.study.platform import BETWEEN_PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Mapping

    import docker

    from tare.machines.addresses import AddressPool
    from tare.runtimes.images import Images
    from tare.runtimes.podman.declaration import Podman
    from tare.runtimes.unit import Site, SiteOptions, Way

_NO_DNAT = "netavark's NAT rules have none for the port's host address"
_MOST_PROCESSES = Path("/proc/sys/kernel/pid_max")


class PodmanRunning(DockerRunning):
    """A container."""

    engine = ENGINE

    def published_path(self, address: str) -> str:
        return published_path(address)

    def confine(self, cpuset: str) -> None:
        """By the command: the API that Podman shares with Docker has no update."""
        command = [COMMAND, "update", "--cpuset-cpus", cpuset, self._container.id]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self._inspect()  # says so if somebody has removed it
            raise RuntimeUnavailableError(
                "podman update failed", where=self.unit.site.name, why=done.stderr.strip()
            )


class PodmanRuntime(DockerRuntime):
    """Runs units in containers of images that Podman makes from the artifact tree."""

    engine = ENGINE
    running = PodmanRunning
    engine_processes: tuple[str, ...] = PROCESSES

    def __init__(
        self, declared: Podman, run: str, work: Path, pool: AddressPool, *, routable: bool = False
    ) -> None:
        super().__init__(run, work, pool, routable=routable)
        self.name = declared.name
        self._oci = declared.oci
        self._service = ExitStack()

    @property
    def client(self) -> docker.DockerClient:
        """A client of the runtime's own service, which is started at first use.

        It ends with `close`, or with this process if only images were made.
        """
        if self._client is None:
            atexit.register(self._service.close)
            self._client = self._service.enter_context(serving(oci=self._oci))
        return self._client

    def probe(self) -> str | None:
        """A service that has ended is started again: containers outlive it."""
        try:
            self.client.ping()
        except RuntimeUnavailableError as error:
            return f"{error.what}: {error.why}"
        except (DockerException, OSError) as error:
            self._end_service()
            return f"Podman's service does not answer: {error}"
        return None

    def images(self) -> Images:
        return replace(super().images(), pull=f"{COMMAND} pull")

    def environment(self) -> dict[str, Any]:
        facts = super().environment()
        return {**facts, "OCI runtime": self.client.info()["DefaultRuntime"]} if facts else {}

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        site = super().site(name, **wanted)
        return replace(site, ways={at: way for at, way in site.ways.items() if at != "proxy"})

    def _seen(self, ways: Mapping[str, Way]) -> dict[str, Way]:
        seen = dict(ways)
        for name, path_of in (("published", published_path), (BETWEEN_PUBLISHED, path_between)):
            if name in ways and not ways[name].fault:
                path = path_of(ways[name].host)
                fault = "" if path in (BY_DNAT, BETWEEN_BY_DNAT) else _NO_DNAT
                seen[name] = replace(ways[name], path=path, fault=fault)
        return seen

    def _bounds(self) -> dict[str, Any]:
        """Also the number of processes, which Podman limits by default."""
        bounds = super()._bounds()
        soft, hard = map(_processes, resource.getrlimit(resource.RLIMIT_NPROC))
        own = Ulimit(name="nproc", soft=soft, hard=hard)
        return {**bounds, "ulimits": [*bounds["ulimits"], own], "pids_limit": -1}

    def _remove_network(self, group: str) -> None:
        """Through the service that runs now: it may not be the one that made the network."""
        network = self._networks.pop(group, None)
        if network is not None:
            with suppress(DockerException, OSError, RuntimeUnavailableError):
                self.client.networks.get(network.made.id).remove()

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._end_service()

    def _end_service(self) -> None:
        self._client = None
        self._service.close()
        atexit.unregister(self._service.close)


def published_path(address: str) -> str:
    """The path of packets to a port published on this address, by the NAT table.

    netavark's rules take in packets of this machine, and 127.0.0.0/8 too: there is no proxy.
    """
    led = any("-j DNAT" in rule for rule in _rules_for(address))
    return BY_DNAT if led else f"{PUBLISHED}, to which no rule for DNAT is seen"


def path_between(address: str) -> str:
    """The same from another container on the same bridge.

    netavark's rules give it the bridge's address (masquerade): else the answer would bypass them.
    """
    rules = _rules_for(address)
    marked = any("SETMARK" in rule and "-s 127." not in rule for rule in rules)
    if marked and any("-j DNAT" in rule for rule in rules):
        return BETWEEN_BY_DNAT
    return f"{PUBLISHED}, to which no rule for DNAT with masquerade is seen"


def _rules_for(address: str) -> list[str]:
    return [rule for rule in nat_rules().splitlines() if f"-d {address}/32 " in rule]


def _processes(limit: int) -> int:
    """This limit of this process, within what Podman can give.

    Podman has bounded itself by the kernel's maximum, and only CAP_SYS_RESOURCE gets more.
    """
    most = int(_MOST_PROCESSES.read_text(encoding="ascii"))
    return most if limit == resource.RLIM_INFINITY else min(limit, most)
