"""Documents of what Tare makes in a cluster: namespace, StatefulSet, services, files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tare.runtimes.kubernetes.names import GROUP_LABEL, HOST_LABEL, POD_LABEL, pod_of
from tare.runtimes.kubernetes.pod_parts import (
    CONF,
    COPYING,
    DATA,
    HANDED,
    MAIN,
    NAMING,
    POD_PROGRAM,
    TAKING,
    Container,
    basics,
    container_of,
    labels_of,
    network_of,
)
from tare.runtimes.slug import slug

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.runtimes.kubernetes.api import Document
    from tare.study.platform import Placement

HOST_DATA_LABEL, MACHINE = "tare.host-data", "machine"
"""label of the map that marks a namespace whose pods keep data in directories of nodes"""
_NAME_S = 60
_PROGRAM: Document = {"name": "program", "mountPath": HANDED}


@dataclass(frozen=True)
class Members:
    """A set of pods that are nodes of one cluster.

    Attributes:
        name: of the StatefulSet and of its headless service.
        labels: of everything that belongs to it.
        files: per pod, file name to text; shown to that pod below CONF.
        ports: ports on which the software would listen, the clients' first.
        on_node: port of the software to the port of the node that leads to it; on the node's own
            network, the port on which it listens instead.
        network, storage: as in a study.
        host_directory: of `storage: host-path`, on the node.
        placement: over nodes; volume size and class.
        first: the machine that the first pod prefers, so that all such sets have the same place and
            packets from outside take the same way to them; empty: any.
        helper: image of tare-pod.
        several: clients name endpoints, so that all are made.
        filled: every pod is given the initial files of its data directory.
    """

    name: str
    labels: Mapping[str, str]
    container: Container
    files: Sequence[Mapping[str, str]]
    ports: Sequence[int]
    on_node: Mapping[int, int]
    network: str
    storage: str
    host_directory: str
    placement: Placement
    helper: str
    first: str = ""
    several: bool = False
    filled: bool = False

    @property
    def taken_by(self) -> str:
        """The container that takes these files: only the unit's own container reaches its layer."""
        return MAIN if self.storage == "layer" else TAKING


def namespace(name: str, run: str, host: str) -> Document:
    """A run's namespace. Ports and directories of nodes need the privileged level of its policy."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {
                **labels_of(run),
                HOST_LABEL: slug(host, 63),
                "pod-security.kubernetes.io/enforce": "privileged",
            },
            "annotations": {"tare/run": run, "tare/host": host},
        },
    }


def headless_service(members: Members) -> Document:
    """The service that gives every pod a name from its first moment, by which nodes meet."""
    return _service(members.name, members, {GROUP_LABEL: members.labels[GROUP_LABEL]}) | {
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {GROUP_LABEL: members.labels[GROUP_LABEL]},
            "ports": _service_ports(members),
        }
    }


def node_service(members: Members, index: int) -> Document:
    """The service in front of one pod: its address and, if asked for, its port of every node."""
    pod = pod_of(members.name, index)
    on_nodes = members.several or members.network == "node-port"
    return _service(pod, members, {}) | {
        "spec": {
            "type": "NodePort" if on_nodes else "ClusterIP",
            "publishNotReadyAddresses": True,
            "selector": {POD_LABEL: pod},
            "ports": _service_ports(members),
        }
    }


def _service(name: str, members: Members, labels: Mapping[str, str]) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": {**members.labels, **labels}},
    }


def _service_ports(members: Members) -> list[Document]:
    listens = members.on_node if members.network == "host" else {}
    return [
        {"name": f"p{port}", "port": port, "targetPort": listens.get(port, port)}
        for port in members.ports
    ]


def config_map(name: str, labels: Mapping[str, str], files: Mapping[str, str]) -> Document:
    """Files for pods, which never change."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": dict(labels)},
        "data": dict(files),
        "immutable": True,
    }


def files_of(members: Members) -> Document:
    """The files of all pods of a set, in one map: a name there has no directory."""
    return config_map(
        members.name,
        members.labels,
        {
            f"{index}.{name}": text
            for index, files in enumerate(members.files)
            for name, text in files.items()
        },
    )


def stateful_set(members: Members, replicas: int) -> Document:
    """The set with a number of its first pods; they start at the same time."""
    selector = {"matchLabels": {GROUP_LABEL: members.labels[GROUP_LABEL]}}
    made: Document = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": members.name, "labels": dict(members.labels)},
        "spec": {
            "serviceName": members.name,
            "replicas": replicas,
            "podManagementPolicy": "Parallel",
            "selector": selector,
            "template": {
                "metadata": {"labels": dict(members.labels)},
                "spec": _pod_of_set(members, selector),
            },
        },
    }
    if members.storage == "pvc":
        made["spec"]["volumeClaimTemplates"] = [_claim(members)]
        made["spec"]["persistentVolumeClaimRetentionPolicy"] = {
            "whenDeleted": "Delete",
            "whenScaled": "Delete",
        }
    return made


def _pod_of_set(members: Members, selector: Document) -> Document:
    spec: Document = {
        **basics(),
        "initContainers": [_wait_for_name(members), *_take_data(members)],
        "containers": [_member(members)],
        "volumes": [*_files_volume(members), *_data_volume(members)],
        **network_of(members.network == "host"),
        "nodeSelector": dict(members.placement.node_selector),
    }
    affinity = _apart(members, selector) | _at_first(members)
    return spec | {"affinity": affinity} if affinity else spec


def _apart(members: Members, selector: Document) -> Document:
    """Pods of a set keep apart, as the study says."""
    term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
    match members.placement.spread:
        case "required":
            rule: Document = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        case "preferred":
            weighed = {"weight": 100, "podAffinityTerm": term}
            rule = {"preferredDuringSchedulingIgnoredDuringExecution": [weighed]}
        case "none":
            return {}
    return {"podAntiAffinity": rule}


def _at_first(members: Members) -> Document:
    """The first pod prefers one machine; if nothing keeps pods apart, all would go there."""
    if not members.first or members.placement.spread == "none":
        return {}
    name = {"key": "metadata.name", "operator": "In", "values": [members.first]}
    term = {"weight": 100, "preference": {"matchFields": [name]}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}


def _wait_for_name(members: Members) -> Document:
    """Runs before the software: the name by which it binds and announces itself must be known."""
    name = f"$(TARE_POD).{members.name}"
    return _helper(members, NAMING, "await-name", "--within", str(_NAME_S), name)


def _take_data(members: Members) -> list[Document]:
    """After that, so that the pod is known by its name as soon as its software listens."""
    if not members.filled:
        return []
    if members.taken_by == MAIN:
        return [_helper(members, COPYING, "copy-self", HANDED) | {"volumeMounts": [_PROGRAM]}]
    return [_helper(members, TAKING, "take", DATA) | {"volumeMounts": _data_mounts(members)}]


def _helper(members: Members, name: str, *words: str) -> Document:
    # its resources are the unit's, so that the pod's quality of service is the unit's
    own = replace(
        members.container, image=members.helper, command=(POD_PROGRAM, *words), environment={}
    )
    return container_of(name, own)


def _member(members: Members) -> Document:
    ports: list[Document] = []
    for port in members.ports:
        outside = members.on_node.get(port)
        if outside is None:
            ports.append({"containerPort": port})
        else:
            own = outside if members.network == "host" else port
            ports.append({"containerPort": own, "hostPort": outside})
    made: Document = {**container_of(MAIN, members.container), "ports": ports, "volumeMounts": []}
    if members.files:
        conf = {"name": "conf", "mountPath": CONF, "subPathExpr": "$(TARE_POD)", "readOnly": True}
        made["volumeMounts"].append(conf)
    made["volumeMounts"] += _data_mounts(members)
    if members.filled and members.taken_by == MAIN:
        made["command"] = [f"{HANDED}/{PurePosixPath(POD_PROGRAM).name}"]
        made["args"] = ["take", DATA, "--", *members.container.command]
        made["volumeMounts"].append({**_PROGRAM, "readOnly": True})
    return made


def _data_mounts(members: Members) -> list[Document]:
    if members.storage not in ("host-path", "pvc", "emptydir"):
        return []
    data: Document = {"name": "data", "mountPath": DATA}
    if members.storage == "host-path":
        data["subPathExpr"] = "$(TARE_POD)"
    return [data]


def _files_volume(members: Members) -> list[Document]:
    if not members.files:
        return []
    items = [
        {"key": f"{index}.{name}", "path": f"{pod_of(members.name, index)}/{name}"}
        for index, files in enumerate(members.files)
        for name in files
    ]
    return [{"name": "conf", "configMap": {"name": members.name, "items": items}}]


def _data_volume(members: Members) -> list[Document]:
    if members.storage == "host-path":
        place = {"path": members.host_directory, "type": "DirectoryOrCreate"}
        return [{"name": "data", "hostPath": place}]
    if members.storage == "emptydir":
        return [{"name": "data", "emptyDir": {}}]
    if members.filled and members.taken_by == MAIN:
        return [{"name": _PROGRAM["name"], "emptyDir": {}}]
    return []


_DATA_CLAIM = "data"


def claim_of(pod: str) -> str:
    """The volume claim that Kubernetes makes for a pod of a set."""
    return f"{_DATA_CLAIM}-{pod}"


def _claim(members: Members) -> Document:
    placement = members.placement
    spec: Document = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": str(placement.volume_size)}},
    }
    if placement.storage_class:
        spec["storageClassName"] = placement.storage_class
    return {"metadata": {"name": _DATA_CLAIM, "labels": dict(members.labels)}, "spec": spec}


def host_data_mark(labels: Mapping[str, str], machine: str = "") -> Document:
    """Notes in a namespace that its sets use directories of nodes; with `machine`, of this one."""
    name, told = (
        (slug(f"host-data-{machine}"), {MACHINE: machine}) if machine else ("host-data", {})
    )
    return config_map(name, {**labels, HOST_DATA_LABEL: "used"}, told)
