"""The services of one cluster on their own network: started one by one, reached, removed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.runtimes.orchestrator import Endpoint
from tare.runtimes.swarm.documents import HOST, Reach, Software, service_document
from tare.runtimes.swarm.facts import constraints
from tare.runtimes.swarm.manager import label_filter
from tare.runtimes.swarm.names import config_of, labels_of, own_name
from tare.runtimes.swarm.tasks import await_task
from tare.runtimes.unit import PORT_STEP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tare.runtimes.swarm.facts import Node
    from tare.runtimes.swarm.manager import Document, Kind, Manager
    from tare.study.platform import Placement

_GONE_S = 30.0
_POLL_S = 0.2


@dataclass
class ServiceGroup:
    """The services of one cluster.

    Attributes:
        manager: of the Swarm.
        run: the run whose label they carry.
        names: of the services, one for each unit.
        units: names of the units.
        endpoint: as in a study.
        network: id of the network that they join.
        port: of the software, for clients.
        number: of the cluster among the live ones, 0-based: it decides the host ports.
        placement: over nodes.
        nodes: nodes that fit the placement, and all others.
        proxied: clients name endpoints: the Swarm's own proxy leads to each unit too.
    """

    manager: Manager
    run: str
    names: Sequence[str]
    units: Sequence[str]
    endpoint: str
    network: str
    port: int
    number: int
    placement: Placement
    nodes: Sequence[Node]
    proxied: bool = False
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep

    def start(self, index: int, software: Software, files: Mapping[str, str]) -> Document:
        """Start the service of this number and wait until its task runs; its task.

        Raises:
            RuntimeUnavailableError: it does not run; with the Swarm's reason.
        """
        name = self.names[index]
        labels = labels_of(self.run, self.units[index])
        configs: dict[str, tuple[str, str]] = {}
        for file, text in files.items():
            held = config_of(name, file)
            identity = self.manager.create_config(held, text, labels)
            configs[file] = identity, held
        reach = Reach(self.endpoint, self.network, self.port, self.published(index), self.proxied)
        places = self._places(index)
        document = service_document(
            name, self.run, self.units[index], software, reach, places, configs
        )
        self.manager.create_service(name, document)
        return await_task(self.manager, name, self.clock, self.wait)

    def published(self, index: int) -> int:
        """The port of its node that leads to a unit, or on which the unit listens there."""
        if self.endpoint == HOST:
            return self.port + PORT_STEP * self.number
        return self.port + PORT_STEP * self.number + index

    def _places(self, index: int) -> list[str]:
        chosen = self.planned(index)
        if chosen is not None:
            return [f"node.id=={chosen.id}"]
        return constraints(self.placement.node_selector)

    def planned(self, index: int) -> Node | None:
        """The node that a unit is bound to; None: the Swarm chooses."""
        fitting = [
            node for node in self.nodes
            if not node.fault and node.meets(self.placement.node_selector)
        ]  # fmt: skip
        free = self.placement.spread == "none" and self.endpoint != HOST
        if free or not fitting:
            return None
        return fitting[index % len(fitting)]

    def reach(self, index: int, task: Document, endpoint: str = "") -> Endpoint:
        """Where a unit that runs is reached.

        Args:
            endpoint: one of several; empty: the group's.

        Raises:
            RuntimeUnavailableError: the Swarm does not tell.
        """
        name = self.names[index]
        endpoint = endpoint or self.endpoint
        node = next((one for one in self.nodes if one.id == task.get("NodeID")), None)
        if node is None:
            raise _untold(name, f"its node {task.get('NodeID')}")
        published = self.published(index)
        door = (node.address, published)
        if endpoint in (HOST, "host-port"):
            return Endpoint(node.address, {self.port: published}, "", node.name, door)
        if endpoint == "container-dns":
            return Endpoint(own_name(name), {}, own_name(name), node.name, door)
        service = self.manager.inspect("service", name)
        if endpoint == "service-ip":
            return Endpoint(self._service_address(name, service), {}, "", node.name, door)
        away = self.nodes[(self.nodes.index(node) + 1) % len(self.nodes)]
        ports = (service.get("Endpoint") or {}).get("Ports") or []
        ingress = next((p for p in ports if p.get("PublishMode") == "ingress"), None)
        if ingress is None:
            raise _untold(name, "its port in the ingress network")
        reached = {self.port: int(ingress["PublishedPort"])}
        return Endpoint(away.address, reached, "", node.name, door)

    def _service_address(self, name: str, service: Document) -> str:
        for one in (service.get("Endpoint") or {}).get("VirtualIPs") or []:
            if one.get("NetworkID") == self.network and one.get("Addr"):
                return str(one["Addr"]).partition("/")[0]
        raise _untold(name, "its address")

    def remove(self) -> None:
        """Remove the services and their files, and wait until their tasks are gone.

        Raises:
            RuntimeUnavailableError: tasks are still there, or the manager does not answer.
        """
        for service in self._ids("service"):
            self.manager.remove("service", service)
        await_gone(self.manager, label_filter(labels_of(self.run)), self.clock, self.wait)
        for config in self._ids("config"):
            self.manager.remove("config", config)

    def _ids(self, kind: Kind) -> list[str]:
        """Ids of the units' objects of a kind, by label: the answer that named one may be lost."""
        return [
            str(one["ID"])
            for unit in self.units
            for one in self.manager.find(kind, label_filter(labels_of(self.run, unit)))
        ]


def remove_networks(manager: Manager, labels: Mapping[str, str]) -> None:
    """Remove the networks with these labels: the answer to the making of one may be lost.

    Raises:
        RuntimeUnavailableError: one is still there, or the manager does not answer.
    """
    for one in manager.find("network", label_filter(labels)):
        manager.remove("network", str(one["Id"]))


def await_gone(
    manager: Manager,
    filters: Mapping[str, object],
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until no task of removed services is left; their containers go with them.

    Tasks of a node that is down are not waited for: its engine ends them when it is back.

    Args:
        filters: the tasks' labels.
    Raises:
        RuntimeUnavailableError: tasks are still there.
    """
    deadline = clock() + _GONE_S
    while True:
        services = {str(one["ID"]) for one in manager.find("service", filters)}
        left = [task for task in manager.find("task", filters) if task["ServiceID"] not in services]
        if left:
            down = _down(manager)
            left = [task for task in left if task.get("NodeID") not in down]
        if not left:
            return
        if clock() > deadline:
            raise RuntimeUnavailableError(
                "tasks of removed services are still there",
                where=manager.where,
                why=f"{len(left)} after {_GONE_S:.0f} s, though their nodes are not down",
                remedy="docker node ls; docker ps on the nodes; then tare clean",
            )
        wait(_POLL_S)


def _down(manager: Manager) -> set[str]:
    """Ids of nodes that do not answer the manager."""
    nodes = manager.find("node", {})
    return {str(node["ID"]) for node in nodes if node["Status"].get("State") != "ready"}


def _untold(service: str, what: str) -> RuntimeUnavailableError:
    return RuntimeUnavailableError(
        f"the Swarm does not tell {what}", where=service, remedy=f"docker service inspect {service}"
    )
