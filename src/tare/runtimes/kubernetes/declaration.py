"""The declaration of pods of the Kubernetes cluster that is named here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError, TareError
from tare.runtimes.declaration import Declaration, Named, Seen
from tare.runtimes.obstacle import Obstacle, too_few_machines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tare.machines.addresses import AddressPool
    from tare.runtimes.kubernetes.facts import ClusterFacts
    from tare.runtimes.left import Left
    from tare.runtimes.unit import Runtime
    from tare.study.schema import Setup

_NONE_NAMED = "no Kubernetes cluster is named here"
_NAME_ONE = (
    "name one with KUBECONFIG, or make one with `make rig` (docs/kubernetes.md); `tare doctor` "
    "says whether it can be used"
)


class Kubernetes(Declaration):
    """A pod, and the services that lead to it."""

    name = "kubernetes"
    orchestrator = True
    networks = ("host", "host-port", "node-port", "service-ip", "container-dns")
    endpoints = ("", "host-port", "node-port", "service-ip", "container-dns")
    storages = ("host-path", "pvc", "emptydir", "layer")
    plugins = ("", "flannel-vxlan", "flannel-host-gw", "bridge", "weave")
    several_on = "container-dns"
    proposed = ("service-ip", "emptydir")
    weighed_by_plugin = True
    passed_on = ("service-ip",)
    unit_s = 4.0  # with its services, and its part of proving the path
    local_images = True
    client_in_words = "as a job inside the cluster, which reaches what clients outside cannot"
    units = "pods"
    title = "Kubernetes cluster"
    unpaused_elsewhere = (
        "pods on other machines than this one cannot be paused while others are measured"
    )

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        from tare.runtimes.kubernetes.runtime import KubernetesRuntime
        from tare.runtimes.kubernetes.settings import cluster_settings

        settings = cluster_settings()
        if settings is None:
            raise RuntimeUnavailableError(_NONE_NAMED, remedy=_NAME_ONE)
        return KubernetesRuntime(run, work, settings)

    def fault(self) -> str | None:
        from tare.runtimes.kubernetes.probe import fault
        from tare.runtimes.kubernetes.settings import cluster_settings

        try:
            settings = cluster_settings()
        except RuntimeUnavailableError as error:
            return f"{error.what}: {error.why} ({error.remedy})"
        if settings is None:
            return f"{_NONE_NAMED} ({_NAME_ONE})"
        return fault(settings) or _builder_fault()

    def seen(self) -> Seen:
        found = self.fault()
        if found is None:
            named = self.named()
            facts = named.facts if named else None
            return Seen(True, _in_words(facts) if facts else "it answers no more")
        if _NAME_ONE not in found:
            return Seen(False, found, "see docs/kubernetes.md, When something is wrong")
        remedy = "see docs/kubernetes.md: name any cluster with KUBECONFIG, or make rig"
        return Seen(False, _NONE_NAMED, remedy)

    def named(self) -> Named | None:
        from tare.runtimes.kubernetes.api import ClientApi
        from tare.runtimes.kubernetes.facts import read_facts
        from tare.runtimes.kubernetes.settings import cluster_settings

        settings = cluster_settings()
        if settings is None:
            return None
        try:
            return Named(read_facts(ClientApi(settings)))
        except TareError:
            return Named()

    def elsewhere(self) -> bool:
        from tare.runtimes.kubernetes.local_pods import kubelet_runs

        return not kubelet_runs()

    def store(self) -> Path | None:
        from tare.runtimes.docker_engine import data_directory

        return data_directory()

    def left(self) -> Left:
        from tare.runtimes.kubernetes import namespaces
        from tare.runtimes.left import Left, each

        found, unanswered = namespaces.leftovers()
        return Left(
            {"namespaces": [f"{one.name} ({one.api.server})" for one in found]},
            lambda: each(namespaces.remove, found),
            unanswered,
        )

    def obstacles(self, setup: Setup, named: Named | None) -> Iterator[Obstacle]:
        platform, client = setup.platform, setup.client
        told_by_nodes = platform.way in ("host", "container-dns")
        if client.tool != "tare" and not told_by_nodes:
            why = f"{client.tool} goes where nodes say they are, not to their {platform.way}"
            remedy = "set platform.network to host or container-dns, or load it with `tare load`"
            yield Obstacle(("client", "tool"), why, remedy)
        if named is None:
            yield Obstacle(("platform", "runtime"), _NONE_NAMED, _NAME_ONE)
        elif named.facts is not None and platform.runtime == self.name:
            yield from _lacking(setup, named.facts)


def _lacking(setup: Setup, facts: ClusterFacts) -> Iterator[Obstacle]:
    """What the setup needs and the cluster lacks."""
    platform = setup.platform
    if platform.plugin and platform.plugin != facts.plugin:
        has = facts.plugin or "one that is not recognised"
        why = f"the Kubernetes cluster's network plugin is {has}, not {platform.plugin}"
        remedy = (
            "name a cluster that has it, then `tare run` again; of the rig: make rig-down, then "
            f"make rig PLUGIN={platform.plugin}"
        )
        yield Obstacle(("platform", "plugin"), why, remedy)
    able = len(facts.fitting(platform.placement.node_selector))
    if not able and platform.placement.node_selector:
        why = "no machine that can take a pod has all labels of node_selector"
        remedy = "kubectl get nodes --show-labels"
        yield Obstacle(("platform", "placement", "node_selector"), why, remedy)
    else:
        yield from too_few_machines(setup, able, "`tare doctor` lists the machines")


def _builder_fault() -> str | None:
    """Why no image can be made for its pods; None: one can."""
    from tare.runtimes.docker_engine import connect

    try:
        connect(timeout_s=5)
    except RuntimeUnavailableError as error:
        return f"images of its pods are made by Docker here: {error.what} ({error.remedy})"
    return None


def _in_words(facts: ClusterFacts) -> str:
    plugin = facts.plugin or "a network plugin that is not recognised"
    return f"{facts.version} at {facts.server}, {len(facts.usable)} usable nodes, {plugin}"


DECLARED = Kubernetes()
