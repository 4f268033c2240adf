"""One StatefulSet with its services and files: started pod by pod, reached, deleted."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes import manifests
from tare.runtimes.kubernetes.data import fill
from tare.runtimes.kubernetes.events import events_in_words, events_of
from tare.runtimes.kubernetes.names import GROUP_LABEL, pod_of
from tare.runtimes.kubernetes.pod_parts import MAIN
from tare.runtimes.kubernetes.pods import await_pod, ended, forget_lost
from tare.runtimes.kubernetes.refusals import ApiError
from tare.runtimes.orchestrator import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tare.artifacts.snapshot import NodeSnapshot
    from tare.runtimes.kubernetes.api import Api, Document
    from tare.runtimes.kubernetes.facts import Machine
    from tare.runtimes.kubernetes.manifests import Members

_GONE_S = 30.0
"""longest wait for pods to end by themselves; they have a second to do so"""
_LOST_S = 3.0
"""after this, pods whose machine is lost are forgotten: nobody is there to end them"""
_POLL_S = 0.2


@dataclass
class NodeSet:
    """The pods of one cluster."""

    api: Api
    namespace: str
    members: Members
    machines: Sequence[Machine]
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep
    started: int = field(default=0, init=False)
    _services: list[Document] = field(default_factory=list, init=False)

    def start(self, index: int, snapshot: NodeSnapshot | None = None) -> Document:
        """Start the pod of this number, with all before it, and wait until it runs.

        Args:
            index: of the pod.
            snapshot: content of its data directory, if its members are filled.

        Raises:
            ArtifactError: its data directory holds something else.
            RuntimeUnavailableError: it does not start; with the reason and the cluster's events.
        """
        if self.started == 0:
            self._create(index + 1)
        elif index >= self.started:
            change = {"spec": {"replicas": index + 1}}
            self.api.patch("StatefulSet", self.members.name, change, self.namespace)
        self.started = max(self.started, index + 1)
        name = pod_of(self.members.name, index)
        try:
            if snapshot is not None:
                taker = self.members.taken_by
                self._await(name, taker)
                fill(self.api, self.namespace, name, taker, snapshot, self.clock, self.wait)
            pod = self._await(name, MAIN)
        except RuntimeUnavailableError as error:
            if isinstance(error, ApiError):
                raise
            # pods that were never made have no events: the set's events tell why
            heard = events_in_words(events_of(self.api, self.members.name, self.namespace))
            error.why += f"\n  events of the set: {heard}" if heard else ""
            if self.members.storage == "pvc":
                self._say_of_claim(error, manifests.claim_of(name))
            raise
        end = ended(pod, MAIN)
        if end is not None:
            heard = events_in_words(events_of(self.api, name, self.namespace))
            raise RuntimeUnavailableError(
                "a pod ended as soon as it was started",
                where=f"{self.namespace}/{name}",
                why=f"{end.detail}; events: {heard}" if heard else end.detail,
                remedy=f"kubectl describe pod {name} -n {self.namespace}, while it is there",
            )
        return pod

    def _await(self, pod: str, container: str) -> Document:
        return await_pod(
            self.api,
            self.namespace,
            pod,
            container,
            never=lambda: self._without_volume(pod),
            clock=self.clock,
            wait=self.wait,
        )

    def _without_volume(self, pod: str) -> bool:
        """Whether a pod's volume will never come: no such storage class, or none is set."""
        if self.members.storage != "pvc":
            return False
        return any(
            one.reason == "FailedBinding"
            or (one.reason == "ProvisioningFailed" and "storageclass" in one.message)
            for one in events_of(self.api, manifests.claim_of(pod), self.namespace)
        )

    def _say_of_claim(self, error: RuntimeUnavailableError, claim: str) -> None:
        """Add why a pod's volume is missing, if that is the reason."""
        heard = [
            one
            for one in events_of(self.api, claim, self.namespace)
            if one.warning or one.reason == "FailedBinding"
        ]
        if heard:
            error.why += f"\n  events of its volume claim: {events_in_words(heard)}"
            error.remedy = "kubectl get storageclass; set platform.placement.storage_class to one"

    def _create(self, replicas: int) -> None:
        members = self.members
        self.api.create(manifests.headless_service(members), self.namespace)
        self._services = [
            self.api.create(manifests.node_service(members, index), self.namespace)
            for index in range(max(len(members.files), replicas))
        ]
        if members.files:
            self.api.create(manifests.files_of(members), self.namespace)
        self.api.create(manifests.stateful_set(members, replicas), self.namespace)

    def endpoint(self, index: int, pod: Document, network: str = "") -> Endpoint:
        """Where clients reach a pod that runs.

        Args:
            network: one of several endpoints; empty: the set's endpoint.
        """
        members, service = self.members, self._services[index]["spec"]
        network = network or members.network
        node = str(pod["spec"]["nodeName"])
        host, reached, inside = str(pod["status"]["podIP"]), {}, ""
        if network in ("host", "host-port"):
            host = str(pod["status"]["hostIP"])
            reached = dict(members.on_node)
        elif network == "service-ip":
            host = str(service["clusterIP"])
        elif network == "node-port":
            host = self._entry(node).address
            reached = {int(one["port"]): int(one["nodePort"]) for one in service["ports"]}
        else:
            inside = f"{pod_of(members.name, index)}.{members.name}"
        return Endpoint(host, reached, inside, node)

    def _entry(self, node: str) -> Machine:
        """The machine whose node port clients call: the one after the pod's own.

        A balancer would choose any, and of N machines N - 1 pass packets on to the pod's. Always
        the same machine gives one price; the pod's own and others in turn gave a mixture of two.
        """
        names = [one.name for one in self.machines]
        after = names.index(node) + 1 if node in names else 0
        return self.machines[after % len(names)]

    def delete(self) -> None:
        """Delete everything of the set and wait until its pods are gone.

        Raises:
            RuntimeUnavailableError: they are still there, even when forced.
        """
        name = self.members.name
        self.api.delete("StatefulSet", name, self.namespace)
        for service in (name, *(pod_of(name, index) for index in range(len(self._services)))):
            self.api.delete("Service", service, self.namespace)
        self.api.delete("ConfigMap", name, self.namespace)
        self.started = 0
        self._await_gone()

    def _await_gone(self) -> None:
        deadline, forced = self.clock() + _GONE_S, False
        while pods := self._pods():
            if self.clock() > deadline - _GONE_S + _LOST_S:
                forget_lost(self.api, self.namespace, pods)
            if self.clock() > deadline:
                names = [str(pod["metadata"]["name"]) for pod in pods]
                if forced:
                    held = {f for pod in pods for f in pod["metadata"].get("finalizers") or []}
                    why = f"; they wait for {', '.join(sorted(held))}" if held else ""
                    raise RuntimeUnavailableError(
                        "pods cannot be deleted",
                        where=self.namespace,
                        why=f"{', '.join(names)}: still there although deletion was forced{why}",
                        remedy=f"kubectl describe pods -n {self.namespace}",
                    )
                # their node does not answer: the API forgets them, the node may still run them
                for pod in names:
                    with contextlib.suppress(ApiError):
                        self.api.delete("Pod", pod, self.namespace, grace_s=0)
                deadline, forced = self.clock() + _GONE_S, True
            self.wait(_POLL_S)

    def _pods(self) -> list[Document]:
        group = self.members.labels[GROUP_LABEL]
        return self.api.find("Pod", self.namespace, labels=f"{GROUP_LABEL}={group}")
