"""Facts of a cluster: version, machines, network plugin and service proxy, as far as it tells."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tare.runtimes.declaration import NOT_RECOGNISED, PLUGIN
from tare.runtimes.kubernetes.pods import node_fault
from tare.runtimes.kubernetes.refusals import ApiError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tare.runtimes.kubernetes.api import Api, Document

_FLANNEL = "flannel.alpha.coreos.com/backend-type"
_DECLARED = "tare/network-plugin"
"""annotation of nodes by which the cluster's maker declares what nothing else tells"""
_DECLARED_PROXY = "tare/proxy-mode"
_PLUGINS = {
    "projectcalico.org/": "calico",
    "network.cilium.io/": "cilium",
    "io.cilium.network": "cilium",
    "kube-router.io/": "kube-router",
    "k8s.ovn.org/": "ovn-kubernetes",
    "networking.weave.works/": "weave",
}
"""beginnings of annotations that plugins put on nodes"""
_MODE = re.compile(r"^mode:\s*\"?(\w*)\"?\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Machine:
    """A node of the cluster."""

    name: str
    address: str
    ready: bool
    fault: str
    schedulable: bool
    """an ordinary pod may be put there: it is not cordoned and has no taint against it"""
    labels: Mapping[str, str]
    cpus: str
    memory: str
    kernel: str
    system: str
    engine: str
    images: frozenset[str]
    """names of images that it reports; it need not report all"""


@dataclass(frozen=True)
class ClusterFacts:
    """One cluster."""

    server: str
    version: str
    plugin: str
    """network plugin, e.g. flannel-vxlan; empty where nothing tells"""
    proxy: str
    """mode of the service proxy, e.g. iptables; empty where nothing tells"""
    machines: tuple[Machine, ...]

    @property
    def usable(self) -> list[Machine]:
        """Machines that can take a pod now."""
        return [one for one in self.machines if one.ready and one.schedulable]

    def fitting(self, selector: Mapping[str, str]) -> list[Machine]:
        """Usable machines with all these labels."""
        return [one for one in self.usable if selector.items() <= one.labels.items()]

    def as_dict(self) -> dict[str, Any]:
        """For records: without labels and images, which are long."""
        machines = []
        for one in self.machines:
            known = asdict(one)
            machines.append({k: v for k, v in known.items() if k not in ("labels", "images")})
        return {
            "server": self.server,
            "version": self.version,
            PLUGIN: self.plugin or NOT_RECOGNISED,
            "proxy mode": self.proxy or "not known",
            "machines": machines,
        }


def read_facts(api: Api) -> ClusterFacts:
    """Ask the cluster what it is.

    Raises:
        ApiError: it does not answer, or Tare may not read its nodes.
    """
    nodes = api.find("Node")
    return ClusterFacts(
        server=api.server,
        version=api.version(),
        plugin=plugin_of(nodes),
        proxy=_proxy_mode(api, nodes),
        machines=tuple(_machine(one) for one in nodes),
    )


def plugin_of(nodes: Iterable[Document]) -> str:
    """The network plugin, by its own annotations on nodes or those of the cluster's maker."""
    for node in nodes:
        notes = _notes(node)
        if notes.get(_FLANNEL):
            return f"flannel-{notes[_FLANNEL]}"
        if notes.get(_DECLARED):
            return str(notes[_DECLARED])
        for beginning, plugin in _PLUGINS.items():
            if any(key.startswith(beginning) for key in notes):
                return plugin
    return ""


def _proxy_mode(api: Api, nodes: Iterable[Document]) -> str:
    """From kube-proxy's own settings, if kubeadm or the like keeps them and Tare may read them."""
    for node in nodes:
        declared = _notes(node).get(_DECLARED_PROXY)
        if declared:
            return str(declared)
    try:
        data = api.get("ConfigMap", "kube-proxy", "kube-system").get("data") or {}
    except ApiError:
        return ""
    found = _MODE.search(str(data.get("config.conf") or ""))
    return (found[1] or "iptables") if found else ""


def _notes(node: Document) -> dict[str, str]:
    return dict(node["metadata"].get("annotations") or {})


def _machine(node: Document) -> Machine:
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    told, capacity = status.get("nodeInfo") or {}, status.get("capacity") or {}
    addresses = {one["type"]: one["address"] for one in status.get("addresses") or []}
    fault = node_fault(node)
    forbidden = [t for t in spec.get("taints") or [] if t.get("effect") != "PreferNoSchedule"]
    return Machine(
        name=metadata["name"],
        address=str(addresses.get("InternalIP") or addresses.get("ExternalIP") or ""),
        ready=not fault,
        fault=fault,
        schedulable=not spec.get("unschedulable") and not forbidden,
        labels=dict(metadata.get("labels") or {}),
        cpus=str(capacity.get("cpu") or ""),
        memory=str(capacity.get("memory") or ""),
        kernel=str(told.get("kernelVersion") or ""),
        system=str(told.get("osImage") or ""),
        engine=str(told.get("containerRuntimeVersion") or ""),
        images=frozenset(
            name for image in status.get("images") or [] for name in image.get("names") or []
        ),
    )
