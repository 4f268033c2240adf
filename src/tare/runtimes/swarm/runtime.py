"""The Docker Swarm runtime: database nodes are services of one task, clients are beside them."""

from __future__ import annotations

import contextlib
import resource
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

from tare.errors import RuntimeUnavailableError, TareError
from tare.runtimes.docker_engine import ENGINE_PROCESSES
from tare.runtimes.images import Images
from tare.runtimes.open_files import open_files
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
from tare.runtimes.unit import PORT_STEP, Site, Way
from tare.study.platform import BETWEEN_NODES, Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import docker

    from tare.runtimes.images import Say
    from tare.runtimes.swarm.facts import Node
    from tare.runtimes.swarm.manager import Document, Manager
    from tare.runtimes.swarm.settings import SwarmSettings
    from tare.runtimes.unit import Running, SiteOptions, Unit
    from tare.study.platform import Platform

NODES_TAKE = "container-dns"
"""by which of its endpoints nodes of a cluster reach each other, whatever their clients take"""


@dataclass
class _Group:
    """One cluster: its sites as they were settled, its network, then its services."""

    number: int
    endpoint: str
    network: str
    labels: dict[str, str] = field(default_factory=dict)
    """of the network that is made for it; empty: it joins one"""
    several: bool = False
    sites: list[Site] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)
    services: ServiceGroup | None = None


class SwarmRuntime:
    """Runs units as services of one Swarm."""

    name = "swarm"
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
        """Prepare for one run; nothing is asked yet.

        Args:
            run: the run's name, the label of everything made.
            work: directory for configuration of units.
            settings: which Swarm.
            manager: of it; None: the engine that the settings name.
            clock, wait: monotonic seconds, and letting them pass.
            ask: asks units that answer from this machine.
            volumes: fills volumes on nodes; None: through the engines that the settings name.
        """
        self._run = run
        self._work = work
        self._settings = settings
        self._manager = manager
        self._clock = clock
        self._wait = wait
        self._ask = ask
        self._engine: docker.DockerClient | None = None
        self._facts: SwarmFacts | None = None
        self._helper = ""
        self._groups: dict[str, _Group] = {}
        self._left: list[_Group] = []
        self._placement = Placement()
        self._volumes = volumes or NodeVolumes(settings.engines, clock=clock, wait=wait)
        self._connectivity_check: ConnectivityCheck | None = None

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
        """What the Swarm is, asked once."""
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
        """Those of the manager's engine, which runs clients."""
        return Images(self.engine, self.provide, lambda _, image, say: self.provide(image, say))

    def prepare(self, say: Say) -> None:
        self.use_helper(self.images().of_program("pod", "tare-pod", say))

    def environment(self) -> dict[str, Any]:
        return self.swarm_facts().as_dict()

    def use_helper(self, image: str) -> None:
        """The image of tare-pod, once it is provided."""
        self._helper = image

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        role, network, group = wanted["role"], wanted["network"], wanted["group"]
        several = wanted.get("several", False)
        conf = self._work / name / "conf"
        conf.mkdir(parents=True, exist_ok=True)
        members = self._groups.get(group)
        site = Site(
            name=name, conf=CONF, conf_on_host=conf, data=DATA, data_on_host=None,
            listen="", peers="", endpoint_host="", path=network,
        )  # fmt: skip
        if role == "client":
            joined = network != HOST and members is not None and members.network != HOST
            return replace(site, network=members.network if joined and members else "")
        if members is None:
            members = self._groups[group] = self._new_group(group, network)
            members.several = several
        own = own_name(service_of(self._run, name))
        if network == HOST:
            site = self._on_machine(site, members)
        else:
            # by this name a task is known to itself and to its peers, whatever the endpoint
            site = replace(site, listen=own, peers=own, seed=own, everywhere=True)
        members.sites.append(site)
        return site

    def _new_group(self, group: str, endpoint: str) -> _Group:
        number = self._free_number()
        if endpoint == HOST:
            return _Group(number, endpoint, HOST)
        if self._settings.network:
            found = self.manager.inspect("network", self._settings.network)
            return _Group(number, endpoint, str(found["Id"]))
        made = _Group(number, endpoint, "", labels_of(self._run, group))
        try:
            made.network = self.manager.create_network(network_of(self._run, group), made.labels)
        except BaseException:  # the answer may be lost, and the network there
            self._left.append(made)
            with contextlib.suppress(RuntimeUnavailableError):
                self._remove(made)
            raise
        return made

    def _free_number(self) -> int:
        taken = {one.number for one in [*self._groups.values(), *self._left]}
        return next(number for number in range(len(taken) + 1) if number not in taken)

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
        usual = platform.model_copy(update={"network": platform.way, "endpoint": ""})
        found = self._connectivity_check.prove(usual, nodes, port, clients, number)
        return {"swarm": self.swarm_facts().as_dict(), **found.as_dict()}

    def launch(self, unit: Unit) -> Running:
        if unit.role == "client":
            name = service_of(self._run, unit.site.name)
            return client.launch(self.engine, self._run, name, unit)
        return self._launch_member(unit)

    def _launch_member(self, unit: Unit) -> MemberRunning:
        group = next(
            group for group in self._groups.values()
            if unit.site.name in [site.name for site in group.sites]
        )  # fmt: skip
        if group.services is None:
            group.services = self._services(group, unit)
        index = [site.name for site in group.sites].index(unit.site.name)
        software = self._filled(group, group.services.planned(index), unit, _software(unit))
        task = group.services.start(index, software, unit.site.files())
        endpoint = group.services.reach(index, task)
        site = replace(
            unit.site,
            endpoint_host=endpoint.host,
            reached=dict(endpoint.reached),
            inside=endpoint.inside,
            machine=endpoint.node,
            here=endpoint.door,
        )
        if group.several:
            site = replace(site, ways=self._ways(group.services, index, task))
        words = self._words(group.endpoint)
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

    def _ways(self, services: ServiceGroup, index: int, task: Document) -> dict[str, Way]:
        found: dict[str, Way] = {}
        for name in DECLARED.named_endpoints:
            if name in PROXIED and not services.proxied:
                found[name] = Way("", "", fault=NO_IP_VS)
                continue
            one = services.reach(index, task, name)
            found[name] = Way(one.host, self._words(name), reached=one.reached, name=one.inside)
        own = address_on(task, services.network)
        path = f"{self._words(NODES_TAKE)}, from another node's task"
        fault = "" if own else "the Swarm does not tell the task's address on its network"
        found[BETWEEN_NODES] = Way(own, path, beside=True, fault=fault)
        return found

    def _words(self, endpoint: str) -> str:
        """What packets to such an endpoint pass through, as far as it was seen."""
        return self._connectivity_check.words(endpoint) if self._connectivity_check else endpoint

    def _services(self, group: _Group, unit: Unit) -> ServiceGroup:
        units = [site.name for site in group.sites]
        names = [service_of(self._run, name) for name in units]
        placement = unit.placement or Placement()
        return ServiceGroup(
            self.manager, self._run, names, units, group.endpoint, group.network, unit.ports[0],
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
        with contextlib.suppress(RuntimeUnavailableError):  # of a node that is gone: see close
            self._volumes.remove(group.volumes)

    def close(self) -> None:
        self._left += self._groups.values()
        self._groups = {}
        faults: list[TareError] = []
        for group in list(self._left):
            try:
                self._remove(group)
            except TareError as error:
                faults.append(error)
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
        # as a native unit has them, so that only the platform differs
        ulimits={"nofile": limit, "memlock": memlock},
        grace_s=unit.grace_s,
        storage=unit.storage,
    )
