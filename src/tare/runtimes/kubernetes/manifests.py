"""What Tare makes in a cluster, as documents: namespace, StatefulSet, services, files, jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tare.runtimes.kubernetes.names import (
    GROUP_LABEL,
    HOST_LABEL,
    POD_LABEL,
    RUN_LABEL,
    UNIT_LABEL,
    pod_of,
    slug,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.machines.cgroups import LimitValues
    from tare.runtimes.kubernetes.api import Document
    from tare.study.platform import Placement

CONF, DATA = "/opt/tare/conf", "/var/lib/cassandra"
"""where a pod finds its configuration and keeps its data"""
MAIN, NAMING = "unit", "own-name"
"""containers of a pod: the unit, and one before it that waits until its name is known"""
POD_PROGRAM = "/opt/tare/bin/tare-pod"
HOST_BASE = "/var/lib/tare"
"""directory of the nodes below which the data of `storage: host-path` lies"""
HOST_DATA_LABEL = "tare.host-data"
"""label of the map that marks a namespace whose pods keep data in directories of nodes"""
_NAME_S = 60


@dataclass(frozen=True)
class Container:
    """What runs in a pod.

    Attributes:
        image: as nodes know it.
        pull: whether nodes may fetch it; else it must have been given to them.
        command: the program and its arguments.
        environment: beside what every pod is told.
        limits: applied as they stand.
        requests: what the scheduler sets aside; None: as much as the limits.
    """

    image: str
    pull: bool
    command: Sequence[str]
    limits: LimitValues
    environment: Mapping[str, str] = field(default_factory=dict)
    requests: LimitValues | None = None


@dataclass(frozen=True)
class Members:
    """A set of pods that are nodes of one cluster.

    Attributes:
        name: of the StatefulSet and of its headless service.
        labels: of everything that belongs to it.
        files: per pod, file name to text; shown to that pod below CONF.
        ports: that the software would listen on, the one for clients first.
        on_node: port of the software to the port of the node that leads to it; in a pod of the
            node's own network, the port that it listens on instead.
        network, storage: as in a study.
        host_directory: of `storage: host-path`, on the node.
        placement: over nodes; volume size and class.
        helper: image of tare-pod.
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


def labels_of(run: str, group: str = "", unit: str = "") -> dict[str, str]:
    """Labels of an object of a run."""
    found = {RUN_LABEL: run, GROUP_LABEL: group, UNIT_LABEL: unit}
    return {key: slug(value, 63) for key, value in found.items() if value}


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
    """The service that gives every pod a name; from its first moment, for nodes meet by it."""
    return _service(members.name, members, {GROUP_LABEL: members.labels[GROUP_LABEL]}) | {
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {GROUP_LABEL: members.labels[GROUP_LABEL]},
            "ports": _service_ports(members),
        }
    }


def node_service(members: Members, index: int) -> Document:
    """The service in front of one pod: its address, where asked its port of every node too."""
    pod = pod_of(members.name, index)
    return _service(pod, members, {}) | {
        "spec": {
            "type": "NodePort" if members.network == "node-port" else "ClusterIP",
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
    """The set with its first so many pods; they start side by side."""
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
    on_node = members.network == "host"
    spec: Document = {
        **_pod_basics(),
        "initContainers": [_wait_for_name(members)],
        "containers": [_member(members)],
        "volumes": [*_files_volume(members), *_data_volume(members)],
        "hostNetwork": on_node,
        "dnsPolicy": "ClusterFirstWithHostNet" if on_node else "ClusterFirst",
        "nodeSelector": dict(members.placement.node_selector),
    }
    term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
    if members.placement.spread == "required":
        rule: Document = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        spec["affinity"] = {"podAntiAffinity": rule}
    elif members.placement.spread == "preferred":
        weighed = {"weight": 100, "podAffinityTerm": term}
        rule = {"preferredDuringSchedulingIgnoredDuringExecution": [weighed]}
        spec["affinity"] = {"podAntiAffinity": rule}
    return spec


def _pod_basics() -> Document:
    """A pod that is told nothing of the cluster, may do nothing in it and dies at once."""
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 1,
    }


def _wait_for_name(members: Members) -> Document:
    """Before the software starts: it binds and announces itself by a name that must be known."""
    name = f"$(TARE_POD).{members.name}"
    return {
        "name": NAMING,
        "image": members.helper,
        "imagePullPolicy": _pull_policy(members.container),
        "command": [POD_PROGRAM],
        "args": ["await-name", "--within", str(_NAME_S), name],
        "env": _told_to_pod(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        # as the unit's, so that the pod's quality of service is the unit's
        "resources": _resources(members.container),
    }


def _member(members: Members) -> Document:
    ports: list[Document] = []
    for port in members.ports:
        outside = members.on_node.get(port)
        if outside is None:
            ports.append({"containerPort": port})
        else:
            own = outside if members.network == "host" else port
            ports.append({"containerPort": own, "hostPort": outside})
    made = {**_container(MAIN, members.container), "ports": ports, "volumeMounts": []}
    if members.files:
        own = {"name": "conf", "mountPath": CONF, "subPathExpr": "$(TARE_POD)", "readOnly": True}
        made["volumeMounts"].append(own)
    if members.storage in ("host-path", "pvc", "emptydir"):
        data: Document = {"name": "data", "mountPath": DATA}
        if members.storage == "host-path":
            data["subPathExpr"] = "$(TARE_POD)"
        made["volumeMounts"].append(data)
    return made


def _container(name: str, container: Container) -> Document:
    own = [{"name": key, "value": value} for key, value in container.environment.items()]
    return {
        "name": name,
        "image": container.image,
        "imagePullPolicy": _pull_policy(container),
        "command": list(container.command[:1]),
        "args": list(container.command[1:]),
        "env": [*_told_to_pod(), *own],
        "resources": _resources(container),
    }


def _pull_policy(container: Container) -> str:
    return "IfNotPresent" if container.pull else "Never"


def _told_to_pod() -> list[Document]:
    return [{"name": "TARE_POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]


def _resources(container: Container) -> Document:
    made: Document = {}
    for key, values in (("limits", container.limits), ("requests", container.requests)):
        chosen = _amounts(values) if values is not None else {}
        if chosen:
            made[key] = chosen
    return made


def _amounts(values: LimitValues) -> dict[str, str]:
    made: dict[str, str] = {}
    if values.cpus is not None:
        made["cpu"] = f"{round(values.cpus * 1000)}m"
    if values.memory is not None:
        made["memory"] = str(values.memory)
    return made


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
    return []


def _claim(members: Members) -> Document:
    placement = members.placement
    spec: Document = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": str(placement.volume_size)}},
    }
    if placement.storage_class:
        spec["storageClassName"] = placement.storage_class
    return {"metadata": {"name": "data", "labels": dict(members.labels)}, "spec": spec}


def host_data_mark(labels: Mapping[str, str]) -> Document:
    """Tells whoever cleans up that nodes hold data of this namespace."""
    return config_map("host-data", {**labels, HOST_DATA_LABEL: "used"}, {})


def job(name: str, labels: Mapping[str, str], pod: Document, longest_s: int | None) -> Document:
    """One pod that runs to its end, once."""
    spec: Document = {
        "backoffLimit": 0,
        "template": {
            "metadata": {"labels": dict(labels)},
            "spec": {**_pod_basics(), "restartPolicy": "Never", **pod},
        },
    }
    if longest_s is not None:
        spec["activeDeadlineSeconds"] = longest_s
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": spec,
    }


def asking_pod(helper: Container, on_node: bool) -> Document:
    """A pod that asks others and prints what they told."""
    return {
        "containers": [_container(MAIN, helper)],
        "hostNetwork": on_node,
        "dnsPolicy": "ClusterFirstWithHostNet" if on_node else "ClusterFirst",
    }


def client_pod(
    container: Container, helper: str, files: str, names: Sequence[str], *, on_node: bool
) -> Document:
    """A pod that runs a load client, and hands its files over when it has ended.

    Args:
        files: name of the map with the client's own files, `names`.
        on_node: whether it uses the node's own network.
    """
    scratch = {"name": "conf", "mountPath": CONF}
    shown = [
        {"name": "files", "mountPath": f"{CONF}/{name}", "subPath": name, "readOnly": True}
        for name in names
    ]
    skipped = [word for name in names for word in ("--skip", name)]
    policy = _pull_policy(container)
    return {
        "initContainers": [{**_container(MAIN, container), "volumeMounts": [scratch, *shown]}],
        "containers": [
            {
                "name": "files",
                "image": helper,
                "imagePullPolicy": policy,
                "command": [POD_PROGRAM],
                "args": ["hand-over", CONF, *skipped],
                "resources": _resources(container),
                "volumeMounts": [scratch],
            }
        ],
        "volumes": [
            {"name": "conf", "emptyDir": {}},
            {"name": "files", "configMap": {"name": files}},
        ],
        "hostNetwork": on_node,
        "dnsPolicy": "ClusterFirstWithHostNet" if on_node else "ClusterFirst",
    }


def removing_pod(helper: Container, node: str) -> Document:
    """A pod that removes directories of one node, below HOST_BASE alone."""
    made: dict[str, Any] = _container(MAIN, helper)
    made["volumeMounts"] = [{"name": "base", "mountPath": HOST_BASE}]
    place = {"path": HOST_BASE, "type": "DirectoryOrCreate"}
    return {
        "containers": [made],
        "volumes": [{"name": "base", "hostPath": place}],
        "nodeName": node,
        "tolerations": [{"operator": "Exists"}],
    }
