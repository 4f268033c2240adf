"""The Kubernetes runtime: database nodes are pods of a StatefulSet, clients may be jobs."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from tare.errors import TareError
from tare.runtimes.docker_engine import connect
from tare.runtimes.images import Images
from tare.runtimes.kubernetes import images, manifests, namespaces, pod_parts
from tare.runtimes.kubernetes.api import ClientApi
from tare.runtimes.kubernetes.client_job import ClientRunning, delete_job, start_job
from tare.runtimes.kubernetes.connectivity import ConnectivityCheck
from tare.runtimes.kubernetes.declaration import DECLARED
from tare.runtimes.kubernetes.facts import ClusterFacts, read_facts
from tare.runtimes.kubernetes.forward import Forward
from tare.runtimes.kubernetes.kubelets import Kubelets
from tare.runtimes.kubernetes.manifests import Members
from tare.runtimes.kubernetes.member import MemberRunning
from tare.runtimes.kubernetes.names import namespace_of, pod_of
from tare.runtimes.kubernetes.node_set import NodeSet
from tare.runtimes.kubernetes.pod_parts import CONF, DATA, Container
from tare.runtimes.kubernetes.probe import fault
from tare.runtimes.kubernetes.refusals import ApiError
from tare.runtimes.orchestrator import Group, OrchestratorRuntime, usual
from tare.runtimes.replies import Reply, ask_from_here
from tare.runtimes.slug import slug
from tare.runtimes.unit import PORT_STEP, Site
from tare.study.platform import Limits, Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import docker

    from tare.runtimes.kubernetes.api import Api
    from tare.runtimes.kubernetes.settings import ClusterSettings
    from tare.runtimes.orchestrator import Endpoint
    from tare.runtimes.path_check import Connectivity
    from tare.runtimes.unit import SiteOptions, Unit
    from tare.study.platform import Platform

ENGINE_PROCESSES = (
    *("kubelet", "kube-proxy", "containerd", "containerd-shim", "containerd-shim-runc-v2"),
    *("dockerd", "crio", "conmon", "flanneld", "calico-node", "cilium-agent", "coredns"),
    *("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd", "k3s"),
)


@dataclass
class _Group(Group):
    """One cluster, and its set once it is made."""

    storage: str = ""
    made: NodeSet | None = None
    forwards: list[Forward] = field(default_factory=list)


class KubernetesRuntime(OrchestratorRuntime[_Group]):
    """Runs units in their own namespace in one cluster."""

    name = "kubernetes"
    noun = "pod"
    endpoints = DECLARED.named_endpoints
    _connectivity_check: ConnectivityCheck | None = None
    engine_processes: tuple[str, ...] = ENGINE_PROCESSES
    head_start_s = 12.0

    def __init__(
        self,
        run: str,
        work: Path,
        settings: ClusterSettings,
        connect: Callable[[ClusterSettings], Api] = ClientApi,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
        ask: Callable[[Sequence[str], float], list[Reply]] = ask_from_here,
    ) -> None:
        """As every orchestrator's.

        Args:
            settings: which cluster.
            connect: makes the connection to it.
        """
        super().__init__(run, work, clock, wait, ask)
        self._settings = settings
        self._connect = connect
        self._api: Api | None = None
        self._facts: ClusterFacts | None = None
        self._namespace: namespaces.Namespace | None = None
        self._pulled: dict[str, bool] = {}
        self._clients: Counter[str] = Counter()
        self._images: Images | None = None
        self._left_jobs: set[str] = set()
        """jobs of ended clients, or of clients that may have been made: they may still be there"""
        self._kubelets = Kubelets(lambda: self.api)

    @property
    def api(self) -> Api:
        if self._api is None:
            self._api = self._connect(self._settings)
        return self._api

    def cluster_facts(self) -> ClusterFacts:
        """The cluster's facts, asked once."""
        if self._facts is None:
            self._facts = read_facts(self.api)
        return self._facts

    def probe(self) -> str | None:
        return fault(self._settings, self._connect)

    def provide(self, engine: docker.DockerClient, image: str, say: Callable[[str], None]) -> str:
        """Bring an image of the local Docker engine to the nodes; its name for pods.

        Raises:
            RuntimeUnavailableError: it cannot be brought there.
        """
        known = [machine.images for machine in self.cluster_facts().usable]
        name, pull = images.provide(self._settings.images, engine, image, known, say)
        self._pulled[name] = pull
        return name

    def images(self) -> Images:
        """Images of this machine's Docker engine, for clients' pods too."""
        if self._images is None:
            engine = connect()
            bring, fetch = partial(self.provide, engine), lambda name, _, __: self.use_image(name)
            self._images = Images(engine, bring, fetch, clients_by_engine=False)
        return self._images

    def environment(self) -> dict[str, Any]:
        return self.cluster_facts().as_dict()

    def use_image(self, name: str) -> str:
        """An image that nodes fetch from a registry by this name."""
        self._pulled[name] = True
        return name

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        role, network = wanted["role"], wanted["network"]
        storage, group = wanted["storage"], wanted["group"]
        site = self._new_site(name, network, CONF, DATA)
        if role == "client":
            return site
        members = self._groups.get(group)
        if members is None:
            several = wanted.get("several", False)
            members = _Group(self._free_number(), network, several, storage)
            self._groups[group] = members
        # the pod and its peers know this name before anybody knows its address
        own = f"{pod_of(slug(group), len(members.sites))}.{slug(group)}"
        shift = PORT_STEP * members.number if network == "host" else 0
        site = replace(site, listen=own, peers=own, seed=own, shift=shift)
        members.sites.append(site)
        return site

    def prove(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str]
    ) -> dict[str, Any]:
        self._remove_left()
        found = self._connectivity(usual(platform), nodes, port, clients)
        return {"cluster": self.cluster_facts().as_dict(), **found.as_dict()}

    def _connectivity(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str]
    ) -> Connectivity:
        if self._connectivity_check is None:
            made = self._own_namespace()
            helper = Container(made.helper, made.pull, [], Limits())
            self._connectivity_check = ConnectivityCheck(
                self.api, made.name, self._run, helper, self.cluster_facts(),
                self._clock, self._wait, self._ask,
            )  # fmt: skip
        # machines come and go, also between two deployments
        self._facts = self._connectivity_check.facts = read_facts(self.api)
        number = self._free_number()
        return self._connectivity_check.prove(platform, nodes, port, clients, number)

    def _own_namespace(self) -> namespaces.Namespace:
        """The run's namespace, made at its first use."""
        if self._namespace is None:
            self._namespace = namespaces.make(
                self.api,
                namespace_of(self._run),
                self._run,
                self._settings,
                self._helper,
                pull=self._pulled.get(self._helper, False),
            )
        return self._namespace

    def launch(self, unit: Unit) -> MemberRunning | ClientRunning:
        return self._launch_member(unit) if unit.role == "database" else self._launch_client(unit)

    def _launch_member(self, unit: Unit) -> MemberRunning:
        name, group, index = self._place(unit)
        namespace = self._own_namespace().name
        if group.made is None:
            group.made = self._set(name, group, unit)
            if group.storage == "host-path":
                self._mark_host_data(namespace)
        pod = group.made.start(index, unit.snapshot)
        if group.storage == "host-path":
            self._mark_host_data(namespace, str(pod["spec"]["nodeName"]))
        endpoint = group.made.endpoint(index, pod)
        site = self._settled(unit, group, index, endpoint)
        words = self._words(group.network)
        if group.several:
            reach = partial(group.made.endpoint, index, pod)
            site = replace(site, ways=self._ways(reach, str(pod["status"]["podIP"]), {}))
        count = partial(self._kubelets.cpu_seconds, namespace)
        return MemberRunning(
            unit, site, self.api, namespace, pod, lambda: words, count, self._clock
        )

    def _set(self, name: str, group: _Group, unit: Unit) -> NodeSet:
        """The group's set, not yet made; its files are written by now."""
        placement = unit.placement or Placement()
        namespace = self._own_namespace().name
        facts = self.cluster_facts()
        fitting = facts.fitting(placement.node_selector) or facts.usable
        on_node: dict[int, int] = {}
        if group.several or group.network in ("host", "host-port"):
            ports = unit.ports if group.network == "host" else unit.ports[:1]
            on_node = {port: port + PORT_STEP * group.number for port in ports}
        members = Members(
            name=slug(name),
            labels=pod_parts.labels_of(self._run, name),
            container=self._container(unit, placement),
            files=[site.files() for site in group.sites],
            ports=unit.ports,
            on_node=on_node,
            network=group.network,
            storage=group.storage,
            host_directory=f"{pod_parts.HOST_BASE}/{namespace}.{slug(name)}",
            placement=placement,
            helper=self._helper,
            first=min(one.name for one in fitting) if fitting else "",
            several=group.several,
            filled=unit.snapshot is not None,
        )
        return NodeSet(self.api, namespace, members, facts.usable, self._clock, self._wait)

    def _container(self, unit: Unit, placement: Placement) -> Container:
        return Container(
            image=unit.bits.image,
            pull=self._pulled.get(unit.bits.image, False),
            command=unit.command,
            limits=unit.limits,
            environment=unit.environment,
            requests=placement.requests,
        )

    def _mark_host_data(self, namespace: str, machine: str = "") -> None:
        mark = manifests.host_data_mark(pod_parts.labels_of(self._run), machine)
        try:
            self.api.create(mark, namespace)
        except ApiError as error:
            if not error.exists:
                raise

    def _settled(self, unit: Unit, group: _Group, index: int, endpoint: Endpoint) -> Site:
        """The site with the endpoint that only the running pod has."""
        door: tuple[str, int] | None = None
        if self._connectivity_check is None or not self._connectivity_check.reachable_from_here(
            group.network
        ):
            pod, port = pod_of(group.made.members.name, index) if group.made else "", unit.ports[0]
            namespace = self._own_namespace().name
            bound = unit.site.binds(port)
            forward = Forward(lambda: self.api.connect(pod, bound, namespace))
            group.forwards.append(forward)
            door = forward.address
        return replace(endpoint, here=door).settle(unit.site)

    def _launch_client(self, unit: Unit) -> ClientRunning:
        self._remove_left()
        self._clients[unit.site.name] += 1
        return start_job(
            unit,
            self.api,
            self._own_namespace().name,
            self._run,
            self._container(unit, Placement()),
            self._helper,
            unit.site.files(),
            self._clients[unit.site.name],
            self._left_jobs,
            self._clock,
            self._wait,
        )

    def release_group(self, group: str) -> None:
        released = self._groups.pop(group, None)
        if released is None:
            return
        self._left.append(released)
        self._remove_left()

    def _remove_left(self) -> None:
        """Remove released groups: they would share machines with the next, or send load to it.

        Raises:
            RuntimeUnavailableError: something is still there.
        """
        for job in sorted(self._left_jobs):
            delete_job(self.api, job, self._own_namespace().name)
            self._left_jobs.remove(job)
        for group in list(self._left):
            for forward in group.forwards:
                forward.close()
            if group.made is not None:
                group.made.delete()
            self._left.remove(group)

    def close(self) -> None:
        for group in list(self._groups):
            with contextlib.suppress(TareError):
                self.release_group(group)
        if self._namespace is not None:
            made, self._namespace = self._namespace, None
            namespaces.remove(made, self._clock, self._wait)
