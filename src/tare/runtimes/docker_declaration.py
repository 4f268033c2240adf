"""The declaration of containers of this machine's Docker engine, or of a host's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tare.runtimes.docker_family import PUBLISHED_NEEDS_ROOT, EngineDeclaration
from tare.runtimes.obstacle import Obstacle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tare.machines.addresses import AddressPool
    from tare.runtimes.left import Left
    from tare.runtimes.ssh.hosts import Hosts
    from tare.runtimes.unit import Runtime
    from tare.study.schema import Setup


class Docker(EngineDeclaration):
    """A container of an engine that one machine has."""

    name = "docker"
    on_hosts = True
    near = (("swarm", 0.6), ("kubernetes", 0.6))

    def engine_in_words(self, facts: Mapping[str, Any]) -> str:
        version = facts.get("version")
        return f"Docker {version}" if version else ""

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        from tare.runtimes.docker import DockerRuntime

        return DockerRuntime(run, work, pool, routable=routable)

    def make_on_hosts(self, work: Path, hosts: Hosts, group: str) -> Runtime:
        from tare.runtimes.ssh.docker import SshDockerRuntime

        return SshDockerRuntime(work, hosts, group)

    def usable(self) -> str:
        from tare.runtimes.docker_engine import connect, refuse_elsewhere

        refuse_elsewhere()
        return f"engine {connect(timeout_s=5).version().get('Version')}"

    def left(self) -> Left:
        from tare.runtimes import docker_engine
        from tare.runtimes.left import Left

        found, silent = docker_engine.leftovers()
        return Left(
            {kind: [str(one.name) for one in items] for kind, items in found.items()},
            lambda: docker_engine.remove(found),
            [f"the Docker engine: {silent}"] if silent else [],
        )

    def needs_root(self, setup: Setup, part: str) -> Iterator[Obstacle]:
        platform, client = setup.platform, setup.client
        if (
            part == "client"
            and platform.source.here
            and client.network == "bridge"
            and platform.network == "host"
        ):
            yield Obstacle(
                ("client", "network"),
                "a bridged client reaches nodes on the host's network only at an address that "
                "root must add",
                "run as root, or set client.network to host",
            )
        if part == "platform" and platform.endpoint == "published":
            yield PUBLISHED_NEEDS_ROOT
        if part == "platform" and platform.endpoint == "loopback":
            why = "only root enters a container's network namespace"
            yield replace(PUBLISHED_NEEDS_ROOT, why=why)


DECLARED = Docker()
