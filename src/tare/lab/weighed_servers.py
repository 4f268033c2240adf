"""The servers of a weighing and the ways to them: native processes, containers, pods and tasks."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tare import scratch
from tare.analysis.prices import WeighedWay
from tare.artifacts.binaries import find
from tare.artifacts.image import STUB, build_program_image
from tare.errors import RuntimeUnavailableError, TareError
from tare.lab.quiet_servers import PORT, Server
from tare.machines.addresses import AddressPool
from tare.runtimes.docker import DockerRuntime
from tare.runtimes.docker_engine import connect
from tare.runtimes.kubernetes.declaration import none_named
from tare.runtimes.kubernetes.runtime import KubernetesRuntime
from tare.runtimes.kubernetes.settings import cluster_settings
from tare.runtimes.native import NativeRuntime
from tare.runtimes.swarm.runtime import SwarmRuntime
from tare.runtimes.swarm.settings import swarm_settings
from tare.study.platform import BETWEEN_NODES, Platform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tare.runtimes.unit import Runtime

RUN = "weigh"
NATIVE, DOCKER, KUBERNETES, SWARM = "native", "docker", "kubernetes", "swarm"
RUNTIMES = (NATIVE, DOCKER, KUBERNETES, SWARM)
ORCHESTRATORS = (KUBERNETES, SWARM)
AGAIN = "native again"
OF_BRIDGE = ("loopback", "bridge", "published", "proxy")
OF_ORCHESTRATOR = ("host-port", "node-port", "service-ip", "container-dns")
"""Endpoints of one server, beside which the way between two nodes is weighed."""


@dataclass(frozen=True)
class Place:
    """One server of every round.

    Attributes:
        ways: name of each way to it, and the endpoint that it takes.
        several: clients name endpoints.
        check: it shows only that nothing is found where nothing is.
    """

    runtime: str
    network: str
    ways: tuple[tuple[str, str], ...]
    several: bool = False
    check: bool = False


def _several(runtime: str, network: str, endpoints: Sequence[str]) -> Place:
    ways = tuple((f"{runtime}.{one}", one) for one in (*endpoints, BETWEEN_NODES))
    return Place(runtime, network, ways, several=True)


PLACES = {
    NATIVE: [
        Place(NATIVE, "host", ((NATIVE, "host"),)),
        Place(NATIVE, "host", ((AGAIN, "host"),), check=True),
    ],
    DOCKER: [
        Place(DOCKER, "host", (("docker.host", "host"),), check=True),
        _several(DOCKER, "bridge", OF_BRIDGE),
    ],
    KUBERNETES: [_several(KUBERNETES, "container-dns", OF_ORCHESTRATOR)],
    SWARM: [_several(SWARM, "container-dns", OF_ORCHESTRATOR)],
}


def places(runtimes: Sequence[str]) -> list[Place]:
    """The servers of a round; native ones are always among them."""
    return [one for name in RUNTIMES if name == NATIVE or name in runtimes for one in PLACES[name]]


def ways(
    runtimes: Sequence[str], in_flight: Sequence[int], without: Sequence[str] = ()
) -> list[WeighedWay]:
    """Every way with every number in flight; those that are checks with the least one alone.

    Args:
        without: names of ways that are not to be had here.
    """
    least = min(in_flight)
    return [
        WeighedWay(name, place.runtime, endpoint, server, in_flight=number)
        for number in in_flight
        for server, place in enumerate(places(runtimes))
        for name, endpoint in place.ways
        if name not in without and (number == least or not place.check)
    ]


class WeighedServers:
    """What the runtimes need once, and their servers for each round."""

    def __init__(
        self, stack: contextlib.ExitStack, runtimes: Sequence[str], say: Callable[[str], None]
    ) -> None:
        """Prepare every runtime; one that cannot be had is left out, with its reason.

        Args:
            stack: ends what is prepared.
            say: told what takes time.
        """
        self.left_out: dict[str, str] = {}
        """runtime, or way, to why it is not weighed"""
        self._stack = stack
        self._say = say
        self._images: dict[str, str] = {}
        self._lasting: dict[str, Runtime] = {}
        ready = {DOCKER: self._docker, KUBERNETES: self._kubernetes, SWARM: self._swarm}
        for name in RUNTIMES[1:]:
            if name in runtimes:
                try:
                    ready[name]()
                except TareError as error:
                    self.left_out[name] = _message(error)
        self.runtimes = [name for name in RUNTIMES if name == NATIVE or name in self._images]

    def of_round(
        self, stack: contextlib.ExitStack, options: Sequence[str], elsewhere: Sequence[str]
    ) -> tuple[NativeRuntime, list[Server]]:
        """The native runtime, which runs the clients too, and the servers of one round.

        Args:
            stack: ends the round.
            options: of native servers' program; elsewhere: of the others'.
        """
        work = Path(stack.enter_context(scratch.directory(RUN)))
        pool = AddressPool()
        native = NativeRuntime(RUN, work, pool)
        stack.callback(native.close)
        own: dict[str, Runtime] = {NATIVE: native, **self._lasting}
        if DOCKER in self.runtimes:
            docker = DockerRuntime(RUN, work, pool)
            stack.callback(docker.close)
            own[DOCKER] = docker
        servers = []
        for place in places(self.runtimes):
            between = place.several and f"{place.runtime}.{BETWEEN_NODES}" not in self.left_out
            server = Server(own[place.runtime], place.network, place.several, options, between)
            if place.runtime != NATIVE:
                image = self._images[place.runtime]
                server = replace(server, options=elsewhere, program=STUB, image=image)
            servers.append(server)
        return native, servers

    def _docker(self) -> None:
        client = DockerRuntime(RUN, Path(), AddressPool()).client
        self._images[DOCKER] = build_program_image(client, "stub", find("tare-stub"))

    def _kubernetes(self) -> None:
        settings = cluster_settings()
        if settings is None:
            raise none_named()
        runtime = KubernetesRuntime(RUN, self._work(), settings)
        self._stack.callback(runtime.close)
        engine = connect()
        helper = build_program_image(engine, "pod", find("tare-pod"), self._say)
        runtime.use_helper(runtime.provide(engine, helper, self._say))
        stub = build_program_image(engine, "stub", find("tare-stub"), self._say)
        self._take(KUBERNETES, runtime, runtime.provide(engine, stub, self._say))

    def _swarm(self) -> None:
        runtime = SwarmRuntime(RUN, self._work(), swarm_settings())
        self._stack.callback(runtime.close)
        helper = build_program_image(runtime.engine, "pod", find("tare-pod"), self._say)
        runtime.use_helper(runtime.provide(helper, self._say))
        stub = build_program_image(runtime.engine, "stub", find("tare-stub"), self._say)
        runtime.provide(stub, self._say)
        self._take(SWARM, runtime, stub)

    def _work(self) -> Path:
        return Path(self._stack.enter_context(scratch.directory(RUN)))

    def _take(self, name: str, runtime: Runtime, image: str) -> None:
        """Keep an orchestrator, and see by which of its endpoints packets arrive.

        Raises:
            RuntimeUnavailableError: by none.
        """
        faults = {}
        for endpoint in OF_ORCHESTRATOR:
            platform = {"runtime": name, "network": "container-dns", "endpoint": endpoint}
            if fault := self._tried(runtime, endpoint, platform, 1, NATIVE):
                faults[f"{name}.{endpoint}"] = fault
        if len(faults) == len(OF_ORCHESTRATOR):
            raise RuntimeUnavailableError(
                f"no way leads into {name}", why=next(iter(faults.values()))
            )
        apart = {"runtime": name, "network": "container-dns", "placement": {"spread": "required"}}
        if fault := self._tried(runtime, BETWEEN_NODES, apart, 2, name):
            faults[f"{name}.{BETWEEN_NODES}"] = fault
        self.left_out |= faults
        self._lasting[name] = runtime
        self._images[name] = image

    def _tried(
        self, runtime: Runtime, way: str, platform: Mapping[str, object], units: int, client: str
    ) -> str:
        """Why packets of clients of a runtime do not reach so many units; empty: they do."""
        self._say(f"trying {runtime.name}.{way}")
        try:
            runtime.prove(Platform.model_validate(platform), units, PORT, {client})
        except TareError as error:
            if error.where == "platform.placement":  # no unit asks for anything but room
                return f"there is no second node: {error.what}"
            return _message(error)
        return ""


def _message(error: TareError) -> str:
    text = f"{error.what}: {error.why}" if error.why else error.what
    return f"{text} ({error.remedy})" if error.remedy else text
