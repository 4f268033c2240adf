"""Checks a path in a cluster: pods that reply, asked from where the clients will be."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import psutil

from tare.errors import RuntimeUnavailableError, TareError
from tare.runtimes.kubernetes import jobs, pod_parts
from tare.runtimes.kubernetes.events import events_in_words, events_of
from tare.runtimes.kubernetes.manifests import Members
from tare.runtimes.kubernetes.names import pod_of
from tare.runtimes.kubernetes.node_set import NodeSet
from tare.runtimes.kubernetes.path import in_words, refuse_broken
from tare.runtimes.kubernetes.pod_parts import MAIN, POD_PROGRAM
from tare.runtimes.kubernetes.pods import ended
from tare.runtimes.path_check import Connectivity, PathCheck, refuse_few_nodes
from tare.runtimes.replies import WITHIN_S, Reply, ask_from_here, replies_inside
from tare.runtimes.unit import PORT_STEP
from tare.study.platform import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tare.runtimes.kubernetes.api import Api
    from tare.runtimes.kubernetes.facts import ClusterFacts
    from tare.runtimes.kubernetes.pod_parts import Container
    from tare.runtimes.orchestrator import Endpoint
    from tare.study.platform import Platform

INSIDE = "kubernetes"
"""runtime of clients that run inside the cluster"""
_GLANCE_S = 3.0
"""how long this machine tries if only clients inside need to get through"""
_ASKING_S = 60.0
_POLL_S = 0.2
_SET, _JOB = "tare-path", "tare-path-ask"


@dataclass
class ConnectivityCheck(PathCheck):
    """Proves each kind of path once in a run."""

    api: Api
    namespace: str
    run: str
    helper: Container
    facts: ClusterFacts
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep
    ask: Callable[..., list[Reply]] = ask_from_here

    def _refuse_unfit(self, platform: Platform, nodes: int, clients: Collection[str]) -> None:
        del clients
        wanted, found = platform.plugin, self.facts.plugin
        if wanted and wanted != found:
            raise RuntimeUnavailableError(
                f"the cluster has no network plugin {wanted}",
                where="platform.plugin",
                why=f"{self.facts.server} has {found or 'one that is not recognised'}",
                remedy=f"name a cluster that has it, or make rig-down and make rig PLUGIN={wanted}",
            )
        fitting = self.facts.fitting(platform.placement.node_selector)
        why = "; ".join(one.fault for one in self.facts.machines if one.fault)
        refuse_few_nodes(
            len(fitting), platform, nodes, "pod",
            why=why or "the others lack the labels of node_selector, are cordoned or tainted",
            remedy="kubectl get nodes --show-labels",
        )  # fmt: skip

    def _check(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str], number: int
    ) -> Connectivity:
        made = self._pods(platform, port, PORT_STEP * number)
        try:
            endpoints: list[Endpoint] = []
            made.start(nodes - 1)
            for index in range(nodes):
                endpoints.append(made.endpoint(index, made.start(index)))
            return self._ask(platform.network, made, endpoints, port, clients)
        finally:
            with contextlib.suppress(TareError):
                self.api.delete("Job", _JOB, self.namespace)
            with contextlib.suppress(TareError):
                made.delete()

    def _pods(self, platform: Platform, port: int, shift: int) -> NodeSet:
        """As many pods as the database will have, placed and reached like its pods."""
        on_node = {port: port + shift} if platform.network in ("host", "host-port") else {}
        own = on_node.get(port, port) if platform.network == "host" else port
        answering = replace(
            self.helper, command=[POD_PROGRAM, "answer", str(own)], limits=Limits(), requests=None
        )
        members = Members(
            name=_SET,
            labels=pod_parts.labels_of(self.run, _SET),
            container=answering,
            files=[],
            ports=[port],
            on_node=on_node,
            network=platform.network,
            storage="layer",
            host_directory="",
            placement=platform.placement,
            helper=self.helper.image,
        )
        machines = self.facts.fitting({})
        return NodeSet(self.api, self.namespace, members, machines, self.clock, self.wait)

    def _ask(
        self,
        network: str,
        made: NodeSet,
        endpoints: Sequence[Endpoint],
        port: int,
        clients: Collection[str],
    ) -> Connectivity:
        proxy, plugin = self.facts.proxy, self.facts.plugin
        outside = {
            f"{one.host}:{one.reached.get(port, port)}": pod_of(made.members.name, index)
            for index, one in enumerate(endpoints)
        }
        needed = any(client != INSIDE for client in clients)
        seen = self.ask(list(outside), WITHIN_S if needed else _GLANCE_S)
        if needed:
            refuse_broken(network, outside, seen, inside=False, proxy=proxy)
        seen_inside: list[Reply] = []
        if INSIDE in clients:
            inside = {
                f"{one.inside}:{port}" if one.inside else target: pod
                for one, (target, pod) in zip(endpoints, outside.items(), strict=True)
            }
            seen_inside = self._ask_inside(list(inside))
            refuse_broken(network, inside, seen_inside, inside=True, proxy=proxy)
        asked = seen if needed else seen_inside
        rules = nat_rules([one.host for one in endpoints]) if network == "service-ip" else {}
        words = in_words(network, asked, plugin, proxy)
        more = {"NAT rules of a node that name the address": rules}
        return Connectivity(network, tuple(seen), tuple(seen_inside), words, more)

    def _ask_inside(self, targets: Sequence[str]) -> list[Reply]:
        """Ask from a pod, and read what it prints."""
        command = [POD_PROGRAM, "ask", "--within", f"{WITHIN_S:g}", *targets]
        pod = jobs.asking_pod(replace(self.helper, command=command, limits=Limits()), False)
        labels = pod_parts.labels_of(self.run, _JOB)
        self.api.create(jobs.job(_JOB, labels, pod, int(_ASKING_S)), self.namespace)
        deadline = self.clock() + _ASKING_S
        name = _JOB
        while True:
            for one in self.api.find("Pod", self.namespace, labels=f"job-name={_JOB}"):
                name = str(one["metadata"]["name"])
                if ended(one, MAIN) is not None:
                    pieces = self.api.log(name, MAIN, self.namespace)
                    return replies_inside(b"".join(pieces).decode(errors="replace"))
            if self.clock() > deadline:
                heard = events_in_words(events_of(self.api, name, self.namespace))
                raise RuntimeUnavailableError(
                    "the pod that was to try the path did not end",
                    where=f"{self.namespace}/{_JOB}",
                    why=heard or f"nothing is told after {_ASKING_S:.0f} s",
                    remedy=f"kubectl describe job {_JOB} -n {self.namespace}",
                )
            self.wait(_POLL_S)


def nat_rules(addresses: Sequence[str]) -> dict[str, int]:
    """How many NAT rules of a node on this machine name each address; empty: no node is here.

    A kube-proxy on this machine shows the network of its rules.
    """
    tool = shutil.which("iptables-save")
    for process in psutil.process_iter(["name"]):
        if process.info["name"] != "kube-proxy" or tool is None:
            continue
        network = f"--net=/proc/{process.pid}/ns/net"
        done = subprocess.run(
            ["nsenter", network, tool, "-t", "nat"],
            capture_output=True, text=True, timeout=10, check=False,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        if done.returncode == 0 and lines:
            return {
                address: sum(f"{address}/32" in line for line in lines) for address in addresses
            }
    return {}
