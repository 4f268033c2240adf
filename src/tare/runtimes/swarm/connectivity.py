"""Checks a path in a Swarm: tasks that reply, asked from where the clients will be."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.artifacts.image import POD
from tare.errors import RuntimeUnavailableError, TareError
from tare.runtimes.path_check import Connectivity, PathCheck, refuse_few_nodes
from tare.runtimes.replies import WITHIN_S, Reply, ask_from_here, replies_inside
from tare.runtimes.swarm.declaration import DECLARED, GO_INSIDE
from tare.runtimes.swarm.documents import HOST, Software
from tare.runtimes.swarm.names import labels_of, network_of, service_of
from tare.runtimes.swarm.path import (
    in_words,
    network_facts,
    refuse_broken,
    userland_proxies,
)
from tare.runtimes.swarm.services import ServiceGroup, remove_networks
from tare.study.platform import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from tare.runtimes.orchestrator import Endpoint
    from tare.runtimes.swarm.facts import SwarmFacts
    from tare.runtimes.swarm.manager import Manager
    from tare.study.platform import Platform

INSIDE = "swarm"
"""runtime of clients that are containers beside the units"""
_ASKING_S = 40.0
_GROUP = "path"


@dataclass
class ConnectivityCheck(PathCheck):
    """Proves each kind of path once in a run."""

    manager: Manager
    run: str
    helper: str
    """image of tare-pod"""
    facts: SwarmFacts
    named_network: str = ""
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep
    ask: Callable[..., list[Reply]] = ask_from_here

    def _refuse_unfit(self, platform: Platform, nodes: int, clients: Collection[str]) -> None:
        outside = [client for client in clients if client != INSIDE]
        if platform.network in DECLARED.inside_only and outside:
            raise RuntimeUnavailableError(
                f"network: {platform.network} is reached by containers of the Swarm only",
                where="client.runtime",
                why=f"its addresses are not routed to clients of runtime {', '.join(outside)}",
                remedy=GO_INSIDE,
            )
        fitting = self.facts.fitting(platform.placement.node_selector)
        why = "; ".join(f"{node.name}: {node.fault}" for node in self.facts.nodes if node.fault)
        refuse_few_nodes(
            len(fitting), platform, nodes, "task",
            why=why or "the others lack the labels of node_selector", remedy="docker node ls",
        )  # fmt: skip

    def _check(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str], number: int
    ) -> Connectivity:
        labels = labels_of(self.run, _GROUP)
        try:
            network = self._network(platform.network, labels)
            return self._prove_on(network, platform, nodes, port, clients, number)
        finally:
            with contextlib.suppress(TareError):
                remove_networks(self.manager, labels)

    def _prove_on(
        self, network: str, platform: Platform, nodes: int, port: int, clients: Collection[str],
        number: int,
    ) -> Connectivity:  # fmt: skip
        units = [f"{_GROUP}-{index + 1}" for index in range(nodes)]
        group = ServiceGroup(
            self.manager, self.run, [service_of(self.run, unit) for unit in units], units,
            platform.network, network, port, number, platform.placement, self.facts.nodes,
            False, self.clock, self.wait,
        )  # fmt: skip
        try:
            endpoints = [self._answering(group, index) for index in range(nodes)]
            return self._ask(group, endpoints, clients)
        finally:
            with contextlib.suppress(TareError):
                group.remove()

    def _network(self, endpoint: str, labels: Mapping[str, str]) -> str:
        """The network for a check; a new one has these labels."""
        if endpoint == HOST:
            return HOST
        if self.named_network:
            return str(self.manager.inspect("network", self.named_network)["Id"])
        return self.manager.create_network(network_of(self.run, _GROUP), labels)

    def _answering(self, group: ServiceGroup, index: int) -> Endpoint:
        port = group.published(index) if group.endpoint == HOST else group.port
        software = Software(
            self.helper,
            [POD, "answer", "--name", group.units[index], str(port)],
            Limits(),
            grace_s=0.0,
        )
        return group.reach(index, group.start(index, software, {}))

    def _ask(
        self, group: ServiceGroup, endpoints: Sequence[Endpoint], clients: Collection[str]
    ) -> Connectivity:
        endpoint, port = group.endpoint, group.port
        expected = {
            f"{one.host}:{one.reached.get(port, port)}": unit
            for one, unit in zip(endpoints, group.units, strict=True)
        }
        outside: list[Reply] = []
        inside: list[Reply] = []
        if any(client != INSIDE for client in clients):
            outside = self.ask(list(expected), WITHIN_S)
            refuse_broken(endpoint, expected, outside, "this machine", self.facts.ip_vs)
        if INSIDE in clients:
            inside = self._ask_inside(list(expected), group.network)
            place = "a container of the manager's engine"
            refuse_broken(endpoint, expected, inside, place, self.facts.ip_vs)
        network = {} if endpoint == HOST else network_facts(
            self.manager.inspect("network", group.network)
        )  # fmt: skip
        published = [] if endpoint == HOST else [group.published(i) for i in range(len(endpoints))]
        words = in_words(endpoint, outside or inside, network)
        more = {
            "network": network,
            "published ports with a userland proxy": userland_proxies(published),
        }
        return Connectivity(endpoint, outside, inside, words, more)

    def _ask_inside(self, targets: Sequence[str], network: str) -> list[Reply]:
        """Ask from a container of the manager's engine on the units' network."""
        document = {
            "image": self.helper,
            "entrypoint": [POD],
            "command": ["ask", "--within", f"{WITHIN_S:g}", *targets],
            "labels": labels_of(self.run),
        }
        name = f"{service_of(self.run, _GROUP)}-ask"
        _, text = self.manager.run(name, document, network, _ASKING_S)
        return replies_inside(text.decode(errors="replace"))
