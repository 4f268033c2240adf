"""The declaration of Docker's containers in gVisor's sandbox: by Docker's entry, or by a platform.

A platform is how the sandbox gets hold of system calls (https://gvisor.dev/docs/architecture_guide/platforms/).
Docker starts each platform by its own entry, so each is a separate runtime here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.runtimes.docker_family import PUBLISHED_NEEDS_ROOT, EngineDeclaration
from tare.runtimes.obstacle import Obstacle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tare.machines.addresses import AddressPool
    from tare.runtimes.declaration import Named
    from tare.runtimes.unit import Runtime
    from tare.study.schema import Setup

NO_LOOPBACK = "its loopback is inside the sandbox, where no client of this machine can run"
_NAME = "gvisor"
_PLATFORMS = ("systrap", "kvm", "ptrace")


class GVisor(EngineDeclaration):
    """A container of this machine's Docker engine, in a sandbox.

    Its leftovers are found with Docker's, because they have the same label.
    """

    networks = ("bridge", "published")
    client_networks = ("bridge",)
    bridged_here = False
    unit_s = 2.0

    def __init__(self, platform: str = "") -> None:
        """Declare it.

        Args:
            platform: what Docker's entry must name; empty: it may name any.
        """
        after = f"-{platform}" if platform else ""
        self.name, self.entry, self.platform = f"{_NAME}{after}", f"runsc{after}", platform
        self.variant_of = _NAME if platform else ""
        self.noun = f"a container in gVisor{f' on {platform}' if platform else ''}"
        earlier = _PLATFORMS[: _PLATFORMS.index(platform)] if platform else ()
        akin = (_NAME, *(f"{_NAME}-{one}" for one in earlier)) if platform else ()
        self.near = (
            *(("docker", 0.5), ("podman", 0.5), ("swarm", 0.8), ("kubernetes", 0.8)),
            *((one, 0.2) for one in akin),
        )

    def engine_in_words(self, facts: Mapping[str, Any]) -> str:
        version, own = facts.get("version"), facts.get("gVisor")
        return f"Docker {version} with {own}" if version and own else ""

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        from tare.runtimes.gvisor.runtime import GVisorRuntime

        return GVisorRuntime(self, run, work, pool, routable=routable)

    def usable(self) -> str:
        from tare.runtimes.gvisor.entry import usable

        return usable(self.entry, self.platform).words

    def obstacles(self, setup: Setup, named: Named | None) -> Iterator[Obstacle]:
        if setup.platform.runtime == self.name and setup.platform.endpoint == "loopback":
            remedy = "set platform.endpoint to bridge, or leave it out"
            yield Obstacle(("platform", "endpoint"), f"{self.name}: {NO_LOOPBACK}", remedy)

    def needs_root(self, setup: Setup, part: str) -> Iterator[Obstacle]:
        if part == "platform" and setup.platform.endpoint == "published":
            yield PUBLISHED_NEEDS_ROOT


DECLARED = (GVisor(), *map(GVisor, _PLATFORMS))
