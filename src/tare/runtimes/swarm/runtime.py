"""The Docker Swarm runtime: database nodes are services of one task, clients are beside them."""

from __future__ import annotations

import contextlib
import resource
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from tare.all_steps import faults_of
from tare.errors import RuntimeUnavailableError, TareError
from tare.runtimes.docker_engine import ENGINE_PROCESSES
from tare.runtimes.images import Images
from tare.runtimes.open_files import open_files
from tare.runtimes.orchestrator import Group, OrchestratorRuntime, usual
from tare.runtimes.replies import Reply, ask_from_here
from tare.runtimes.swarm import client, images
from tare.runtimes.swarm.connectivity import ConnectivityCheck
from tare.runtimes.swarm.declaration import DECLARED, PROXIED
from tare.runtimes.swarm.documents import CONF, DATA, HOST, Software
from tare.runtimes.swarm.facts import NO_IP_VS, SwarmFacts, read_facts
from tare.runtimes.swarm.manager import EngineManager
from tare.runtimes.swarm.member import MemberRunning
from tare.runtimes.swarm.names import labels_of, network_of, own_name, service_of, volume_of
from tare.runtimes.swarm.services import ServiceGroup, remove_networks
from tare.runtimes.swarm.settings import connect_engine
from tare.runtimes.swarm.tasks import address_on
from tare.runtimes.swarm.volumes import NodeVolumes
from tare.runtimes.unit import PORT_STEP, Site
from tare.study.platform import Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import docker

    from tare.runtimes.swarm.facts import Node
    from tare.runtimes.swarm.manager import Manager
    from tare.runtimes.swarm.settings import SwarmSettings
    from tare.runtimes.unit import Running, SiteOptions, Unit
    from tare.study.platform import Platform


@dataclass
class _Group(Group):
    """One cluster, its network, and its services once they are made."""

    joined: str = ""
    """the network's id"""
    labels: dict[str, str] = field(default_factory=dict)
    """of the network that is made for it; empty: it joins an existing one"""
    volumes: list[str] = field(default_factory=list)
    services: ServiceGroup | None = None


class SwarmRuntime(OrchestratorRuntime[_Group]):
    """Runs units as services of one Swarm."""

    name = "swarm"
    noun = "task"
    endpoints = DECLARED.named_endpoints
    _connectivity_check: ConnectivityCheck | None = None
    engine_processes: tuple[str, ...] = ENGINE_PROCESSES
    head_start_s = 4.0

    def __init__(
        self,
        run: str,
        work: Path,
        settings: SwarmSettings,
        manager: Manager | None = None,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
        ask: Callable[[Sequence[str], float], list[Reply]] = ask_from_here,
        volumes: NodeVolumes | None = None,
    ) -> None:
        """As every orchestrator's.

        Args:
            settings: which Swarm.
            manager: of it; None: the engine that the settings name.
            volumes: fills volumes on nodes; None: through the engines that the settings name.
        """
        super().__init__(run, work, clock, wait, ask)
        self._settings = settings
        self._manager = manager
        self._engine: docker.DockerClient | None = None
        self._facts: SwarmFacts | None = None
        self._placement = Placement()
        self._volumes = volumes or NodeVolumes(settings.engines, clock=clock, wait=wait)

    @property
    def engine(self) -> docker.DockerClient:
        """The manager's Docker engine, which builds images and runs clients."""
        if self._engine is None:
            self._engine = connect_engine(self._settings.manager)
        return self._engine

    @property
    def manager(self) -> Manager:
        if self._manager is None:
            self._manager = EngineManager(self.engine, self._settings.where)
        return self._manager

    def swarm_facts(self) -> SwarmFacts:
        """The Swarm's facts, asked once."""
        if self._facts is None:
            self._facts = read_facts(self.manager, local=self._settings.local)
        return self._facts

    def probe(self) -> str | None:
        try:
            facts = read_facts(self.manager)
        except TareError as error:
            return f"{error.what}: {error.why}; {error.remedy}"
        return None if facts.usable else "no node of the Swarm can take a task; docker node ls"

    def provide(self, image: str, say: Callable[[str], None]) -> str:
        """Bring an image of the manager's engine to the nodes; its name for tasks, which is its id.

        Raises:
            RuntimeUnavailableError: it cannot be brought there.
        """
        nodes = [node.name for node in self.swarm_facts().usable]
        images.provide(self.engine, image, nodes, self._settings.engines, say)
        return image

    def images(self) -> Images:
        """Images of the manager's engine, which runs clients."""
        return Images(self.engine, self.provide, lambda _, image, say: self.provide(image, say))

    def environment(self) -> dict[str, Any]:
        return self.swarm_facts().as_dict()

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        role, network, group = wanted["role"], wanted["network"], wanted["group"]
        members = self._groups.get(group)
        site = self._new_site(name, network, CONF, DATA)
        if role == "client":
            joined = network != HOST and members is not None and members.joined != HOST
            return replace(site, network=members.joined if joined and members else "")
        if members is None:
            members = self._groups[group] = self._new_group(group, network)
            members.several = wanted.get("several", False)
        own = own_name(service_of(self._run, name))
        if network == HOST:
            site = self._on_machine(site, members)
        else:
            # the task and its peers know this name, whatever the endpoint
            site = replace(site, listen=own, peers=own, seed=own, everywhere=True)
        members.sites.append(site)
        return site

    def _new_group(self, group: str, endpoint: str) -> _Group:
        number = self._free_number()
        if endpoint == HOST:
            return _Group(number, endpoint, joined=HOST)
        if self._settings.network:
            found = self.manager.inspect("network", self._settings.network)
            return _Group(number, endpoint, joined=str(found["Id"]))
        made = _Group(number, endpoint, labels=labels_of(self._run, group))
        try:
            made.joined = self.manager.create_network(network_of(self._run, group), made.labels)
        except BaseException:  # the answer may be lost, and the network there
            self._left.append(made)
            with contextlib.suppress(RuntimeUnavailableError):
                self._remove(made)
            raise
        return made

    def _on_machine(self, site: Site, members: _Group) -> Site:
        """A site on a machine's own network, whose address is known before anything runs there."""
        nodes = self.swarm_facts().fitting(self._placement.node_selector)
        node = nodes[len(members.sites) % len(nodes)]
        shift = PORT_STEP * members.number
        return replace(
            site, listen=node.address, peers=node.address, seed=node.address, shift=shift,
            machine=node.name,
        )  # fmt: skip

    def prove(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str]
    ) -> dict[str, Any]:
        if self._connectivity_check is None:
            self._connectivity_check = ConnectivityCheck(
                self.manager, self._run, self._helper, self.swarm_facts(), self._settings.network,
                self._clock, self._wait, self._ask,
            )  # fmt: skip
        for group in list(self._left):  # it would share the machines with what is made now
            self._remove(group)
        self._placement = platform.placement
        self._facts = self._connectivity_check.facts = read_facts(
            self.manager, local=self._settings.local
        )
        number = self._free_number()
        found = self._connectivity_check.prove(usual(platform), nodes, port, clients, number)
        return {"swarm": self.swarm_facts().as_dict(), **found.as_dict()}

    def launch(self, unit: Unit) -> Running:
        if unit.role == "client":
            name = service_of(self._run, unit.site.name)
            return client.launch(self.engine, self._run, name, unit)
        return self._launch_member(unit)

    def _launch_member(self, unit: Unit) -> MemberRunning:
        _, group, index = self._place(unit)
        if group.services is None:
            group.services = self._services(group, unit)
        software = self._filled(group, group.services.planned(index), unit, _software(unit))
        task = group.services.start(index, software, unit.site.files())
        site = group.services.reach(index, task).settle(unit.site)
        if group.several:
            missing = {} if group.services.proxied else dict.fromkeys(PROXIED, NO_IP_VS)
            reach = partial(group.services.reach, index, task)
            ways = self._ways(reach, address_on(task, group.services.network), missing)
            site = replace(site, ways=ways)
        words = self._words(group.network)
        service = service_of(self._run, unit.site.name)
        return MemberRunning(unit, site, self.manager, service, task, words, self._clock)

    def _filled(self, group: _Group, node: Node | None, unit: Unit, software: Software) -> Software:
        """The software with a volume that holds the unit's snapshot on its node, if it has one."""
        if unit.snapshot is None:
            return software
        if node is None:
            raise RuntimeUnavailableError(
                "a task's volume cannot be filled",
                where=unit.site.name,
                why="the Swarm chooses the task's node when it starts",
                remedy="set platform.placement.spread to preferred, or design.data to populate",
            )
        name = volume_of(service_of(self._run, unit.site.name))
        group.volumes.append(name)
        labels = labels_of(self._run, unit.site.name)
        self._volumes.fill(node.name, name, labels, software.image, unit.snapshot)
        return replace(software, volume=name)

    def _services(self, group: _Group, unit: Unit) -> ServiceGroup:
        units = [site.name for site in group.sites]
        names = [service_of(self._run, name) for name in units]
        placement = unit.placement or Placement()
        return ServiceGroup(
            self.manager, self._run, names, units, group.network, group.joined, unit.ports[0],
            group.number, placement, self.swarm_facts().nodes,
            group.several and self.swarm_facts().ip_vs is not False, self._clock, self._wait,
        )  # fmt: skip

    def release_group(self, group: str) -> None:
        released = self._groups.pop(group, None)
        if released is None:
            return
        self._left.append(released)  # until all of it is gone
        self._remove(released)

    def _remove(self, group: _Group) -> None:
        if group.services is not None:
            group.services.remove()
        if group.labels:
            remove_networks(self.manager, group.labels)
        self._left.remove(group)
        with contextlib.suppress(RuntimeUnavailableError):  # the node is gone: see close
            self._volumes.remove(group.volumes)

    def close(self) -> None:
        self._left += self._groups.values()
        self._groups = {}
        faults = faults_of(partial(self._remove, group) for group in list(self._left))
        if not faults:
            self._volumes.remove()
        else:
            raise RuntimeUnavailableError(
                "the Swarm still has services of this run",
                where=self.manager.where,
                why=faults[0].why or faults[0].what,
                remedy="tare clean, once its manager answers",
            ) from faults[0]


def _software(unit: Unit) -> Software:
    limit, memlock = open_files(), resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    return Software(
        image=unit.bits.image,
        command=unit.command,
        limits=unit.limits,
        requests=unit.placement.requests if unit.placement else None,
        environment=unit.environment,
        # the same as of a native unit, so that only the platform differs
        ulimits={"nofile": limit, "memlock": memlock},
        grace_s=unit.grace_s,
        storage=unit.storage,
    )
