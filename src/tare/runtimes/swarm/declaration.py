"""The declaration of tasks of the Docker Swarm that is named here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.runtimes.declaration import Declaration, Named, Seen
from tare.runtimes.obstacle import Obstacle, too_few_machines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tare.machines.addresses import AddressPool
    from tare.runtimes.left import Left
    from tare.runtimes.swarm.facts import SwarmFacts
    from tare.runtimes.unit import Runtime
    from tare.study.platform import Platform
    from tare.study.schema import Setup

_NONE_NAMED = "no Docker Swarm is named here"
_NAME_ONE = (
    "name a manager with DOCKER_HOST, a docker context or TARE_SWARM, or start a Swarm here "
    "with `make rig-swarm` (docs/swarm.md); `tare doctor` says whether it can be used"
)
_GET_ONE = "see docs/swarm.md: name a Swarm's manager with TARE_SWARM, or make rig-swarm"
GO_INSIDE = "run the load client inside: client: {runtime: swarm, network: bridge}"
PROXIED = ("service-ip", "node-port")
"""endpoints that go through the Swarm's own proxy, the kernel's IP_VS"""


class Swarm(Declaration):
    """A task of a service."""

    name = "swarm"
    orchestrator = True
    networks = ("host", "host-port", "node-port", "service-ip", "container-dns")
    endpoints = ("", "host-port", "node-port", "service-ip", "container-dns")
    storages = ("volume", "layer")
    plugins = ("", "overlay", "docker-gwbridge", "weave")
    several_on = "container-dns"
    inside_only = ("service-ip", "container-dns")
    passed_on = PROXIED
    proposed = ("host-port", "volume")
    near = (("kubernetes", 0.4),)
    unit_s = 4.0  # with its service, and its part of proving the path
    client_in_words = "as a container of the manager's engine"
    client_network_in_words = "the network of the database's services"
    units = "tasks"
    title = "Swarm"

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        from tare.runtimes.swarm.runtime import SwarmRuntime
        from tare.runtimes.swarm.settings import swarm_settings

        return SwarmRuntime(run, work, swarm_settings())

    def fault(self) -> str | None:
        from tare.runtimes.swarm.named import swarm_fault

        return swarm_fault()

    def seen(self) -> Seen:
        from tare.runtimes.swarm.facts import SwarmFacts
        from tare.runtimes.swarm.named import ask_swarm

        found = ask_swarm()
        if not isinstance(found, SwarmFacts):
            says = f"{found.what}: {found.why}" if found else "docker's engine is in no Swarm"
            return Seen(False, says, _GET_ONE)
        says = f"{found.version} at {found.manager}, {len(found.usable)} usable nodes"
        if found.ip_vs is False:
            says += "; the kernel lacks IP_VS: service-ip and node-port cannot run"
        return Seen(bool(found.usable), says, _GET_ONE)

    def named(self) -> Named | None:
        from tare.runtimes.swarm.facts import SwarmFacts
        from tare.runtimes.swarm.named import ask_swarm

        found = ask_swarm()
        if isinstance(found, SwarmFacts):
            return Named(found)
        return Named() if found else None

    def elsewhere(self) -> bool:
        from tare.runtimes.swarm.settings import swarm_settings

        return not swarm_settings().local

    def left(self) -> Left:
        from tare.runtimes.left import Left, each
        from tare.runtimes.swarm import leftovers

        found = leftovers.leftovers()
        unanswered = [found.unanswered] if found.unanswered else []
        return Left(found.words(), lambda: each(leftovers.remove, [found]), unanswered)

    def obstacles(self, setup: Setup, named: Named | None) -> Iterator[Obstacle]:
        platform, client = setup.platform, setup.client
        if platform.runtime != self.name:
            return
        if named is None:
            yield Obstacle(("platform", "runtime"), _NONE_NAMED, _NAME_ONE)
            return
        if platform.plugin == "weave":
            why = "this version makes a Swarm's networks with the overlay driver, not with Weave"
            yield Obstacle(("platform", "plugin"), why, "leave platform.plugin out, or set overlay")
        if client.tool != "tare" and platform.network != "host":
            why = (
                f"{client.tool} goes where nodes say they are, which is on a network of containers"
            )
            remedy = "set platform.network to host, or load it with `tare load`"
            yield Obstacle(("client", "tool"), why, remedy)
        if platform.way in self.inside_only and client.runtime != self.name:
            why = f"{platform.way} of a Swarm is reached by containers on its network only"
            yield Obstacle(("platform", "network"), why, GO_INSIDE)
        if named.facts is not None:
            yield from self._lacking(setup, named.facts)

    def _lacking(self, setup: Setup, facts: SwarmFacts) -> Iterator[Obstacle]:
        """What the setup needs and the Swarm lacks."""
        from tare.runtimes.swarm.facts import NO_IP_VS

        platform = setup.platform
        if platform.way in PROXIED and facts.ip_vs is False:
            remedy = "a kernel with IP_VS; network: host-port and container-dns need none"
            yield Obstacle(("platform", "network"), NO_IP_VS, remedy)
        able = len(facts.fitting(platform.placement.node_selector))
        yield from too_few_machines(setup, able, "docker node ls shows the machines")

    def data_out_of_reach(self, platform: Platform, *, here: bool) -> str:
        if platform.storage == "layer":
            return "nothing but the task's own software reaches its container's writable layer"
        if platform.placement.spread == "none" and platform.network != "host":
            return "the Swarm chooses its node when it starts: platform.placement.spread is none"
        if here and not _names_engines():
            return (
                "the file of TARE_SWARM names no engines, through which nodes could be given data"
            )
        return ""


def _names_engines() -> bool:
    from tare.runtimes.swarm.settings import names_engines

    return names_engines()


DECLARED = Swarm()
