"""A scripted Kubernetes API: keeps documents and plays the few controllers that Tare relies on.

Sets and jobs get their pods, and services their addresses, at once; tests script the failures.
tests/integration uses a real cluster.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tare.runtimes.kubernetes.api import Document
from tare.runtimes.kubernetes.refusals import refused

SERVER = "https://scripted:6443"
MAIN = "unit"
OTHER = "10.0.0.2"


def machine(name: str, address: str = "10.0.0.1", **more: Any) -> Document:
    """A ready node; `more` replaces parts of its document."""
    return {
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name},
            "annotations": {"flannel.alpha.coreos.com/backend-type": "vxlan"},
            **more.get("metadata", {}),
        },
        "spec": more.get("spec", {}),
        "status": {
            "addresses": [{"type": "InternalIP", "address": address}],
            "conditions": more.get("conditions", [{"type": "Ready", "status": "True"}]),
            "nodeInfo": {"kernelVersion": "6.1", "containerRuntimeVersion": "containerd://1.6"},
            "capacity": {"cpu": "2", "memory": "4Gi"},
            "images": [{"names": list(more.get("images", []))}],
        },
    }


def running_pod(name: str, uid: str, node: Document, address: str, labels: Any) -> Document:
    """A pod with a running container."""
    status = {
        "phase": "Running",
        "podIP": address,
        "hostIP": node["status"]["addresses"][0]["address"],
        "qosClass": "Guaranteed",
        "containerStatuses": [
            {"name": MAIN, "containerID": f"containerd://{uid}", "state": {"running": {}}}
        ],
    }
    return {
        "kind": "Pod",
        "metadata": {"name": name, "uid": uid, "labels": dict(labels)},
        "spec": {"nodeName": node["metadata"]["name"]},
        "status": status,
    }


def forbidden(node: str) -> Document:
    raise refused(SERVER, 403, "nodes/proxy is forbidden")


@dataclass
class ScriptedApi:
    """Holds documents by (kind, namespace, name).

    Attributes:
        nodes: the cluster's machines.
        denied: (verb, resource) pairs for which rights are missing.
        spoil: called with every new pod document, to break the pod.
        logs: (pod, container) to its output.
        refuse: called first with (verb, kind, name); may raise.
        calls: (verb, kind, name) of each call, in order.
        stuck: namespaces whose deletion never finishes.
        lingering: pods that outlive their owners.
        counted: node to its kubelet's statistics; by default, the request is forbidden.
    """

    nodes: list[Document] = field(
        default_factory=lambda: [machine("m1"), machine("m2", "10.0.0.2")]
    )
    denied: set[tuple[str, str]] = field(default_factory=set)
    spoil: Callable[[Document], None] = lambda pod: None
    logs: dict[tuple[str, str], bytes] = field(default_factory=dict)
    refuse: Callable[[str, str, str], None] = lambda verb, kind, name: None
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    stuck: set[str] = field(default_factory=set)
    lingering: set[str] = field(default_factory=set)
    counted: Callable[[str], Document] = forbidden
    server: str = SERVER
    kept: dict[tuple[str, str, str], Document] = field(default_factory=dict)
    addresses: int = 0
    jobs: int = 0

    def __post_init__(self) -> None:
        for node in self.nodes:
            self.kept["Node", "", node["metadata"]["name"]] = node

    def version(self) -> str:
        return "v1.33.13"

    def made(self, kind: str) -> dict[str, Document]:
        """The present documents of a kind, by name."""
        return {name: one for (each, _, name), one in self.kept.items() if each == kind}

    def get(self, kind: str, name: str, namespace: str = "") -> Document:
        self._call("get", kind, name)
        try:
            return copy.deepcopy(self.kept[kind, namespace, name])
        except KeyError:
            raise refused(SERVER, 404, f"{kind} {name} not found") from None

    def find(
        self, kind: str, namespace: str = "", *, labels: str = "", fields: str = ""
    ) -> list[Document]:
        self._call("find", kind, "")
        found = [
            one
            for (each, where, _), one in self.kept.items()
            if each == kind and (not namespace or where == namespace)
        ]
        if fields:
            _, _, name = fields.partition("=")
            found = [one for one in found if one["involvedObject"]["name"] == name]
        return copy.deepcopy([one for one in found if _labelled(one, labels)])

    def create(self, manifest: Document, namespace: str = "") -> Document:
        kind = manifest["kind"]
        if kind == "SelfSubjectAccessReview":
            asked = manifest["spec"]["resourceAttributes"]
            resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
            return {"status": {"allowed": (asked["verb"], resource) not in self.denied}}
        name = manifest["metadata"]["name"]
        self._call("create", kind, name)
        if (kind, namespace, name) in self.kept:
            raise refused(SERVER, 409, f"{kind} {name} already exists")
        made = self.kept[kind, namespace, name] = copy.deepcopy(manifest)
        if kind == "Service":
            self._give_address(made)
        elif kind == "StatefulSet":
            self._scale(made, namespace)
        elif kind == "Job":
            self.jobs += 1
            made["metadata"]["uid"] = f"job-{self.jobs}"
            self._start_job(made, namespace)
        return copy.deepcopy(made)

    def patch(self, kind: str, name: str, change: Document, namespace: str = "") -> Document:
        self._call("patch", kind, name)
        kept = self.kept[kind, namespace, name]
        kept["spec"] |= change["spec"]
        self._scale(kept, namespace)
        return copy.deepcopy(kept)

    def delete(
        self, kind: str, name: str, namespace: str = "", *, grace_s: int | None = None
    ) -> None:
        self._call("delete", kind, name)
        if kind == "Namespace":
            if name not in self.stuck:
                self.kept = {key: one for key, one in self.kept.items() if key[1] != name}
                self.kept.pop(("Namespace", "", name), None)
            return
        gone = self.kept.pop((kind, namespace, name), None)
        if gone is not None and kind in ("StatefulSet", "Job"):
            for pod in [
                k for k, one in self.kept.items() if (one.get("owner") or ())[:2] == (kind, name)
            ]:
                if pod[2] not in self.lingering:
                    del self.kept[pod]

    def log(
        self, pod: str, container: str, namespace: str, *, follow: bool = False, last: bool = False
    ) -> Iterator[bytes]:
        self._call("log", "Pod", pod)
        if last or (pod, container) not in self.logs:
            raise refused(SERVER, 404, "no such log")
        yield self.logs[pod, container]

    def connect(self, pod: str, port: int, namespace: str) -> Any:
        raise refused(SERVER, 404, f"nothing listens on {port} in {pod}")

    def statistics(self, node: str) -> Document:
        return self.counted(node)

    def tell(self, name: str, reason: str, message: str, *, namespace: str, count: int = 1) -> None:
        """Add a warning event about an object."""
        number = len(self.kept)
        self.kept["Event", namespace, f"{name}.{number}"] = {
            "kind": "Event",
            "metadata": {"name": f"{name}.{number}"},
            "involvedObject": {"name": name},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "count": count,
            "lastTimestamp": f"2026-11-22T07:00:{number:02}Z",
        }

    def _call(self, verb: str, kind: str, name: str) -> None:
        self.calls.append((verb, kind, name))
        self.refuse(verb, kind, name)

    def _give_address(self, service: Document) -> None:
        self.addresses += 1
        spec = service["spec"]
        if spec.get("clusterIP") != "None":
            spec["clusterIP"] = f"10.96.0.{self.addresses}"
        if spec.get("type") == "NodePort":
            for port in spec["ports"]:
                port["nodePort"] = 30000 + self.addresses

    def _scale(self, made: Document, namespace: str) -> None:
        name, template = made["metadata"]["name"], made["spec"]["template"]
        for index in range(made["spec"]["replicas"]):
            self._start_pod(f"{name}-{index}", ("StatefulSet", name), template, namespace, index)

    def _start_job(self, made: Document, namespace: str) -> None:
        name = made["metadata"]["name"]
        template = copy.deepcopy(made["spec"]["template"])
        template["metadata"]["labels"]["job-name"] = name
        owner = ("Job", name, made["metadata"]["uid"])
        number = 1
        while ("Pod", namespace, f"{name}-x{number}") in self.kept:
            number += 1
        self._start_pod(f"{name}-x{number}", owner, template, namespace, 0)

    def _start_pod(
        self, name: str, owner: Any, template: Document, namespace: str, index: int
    ) -> None:
        if ("Pod", namespace, name) in self.kept:
            return
        self.addresses += 1
        pod = running_pod(
            name,
            f"uid-{self.addresses}",
            self.nodes[index % len(self.nodes)],
            f"10.244.0.{self.addresses}",
            template["metadata"]["labels"],
        )
        pod |= {"owner": owner, "template": template["spec"]}
        pod["metadata"]["ownerReferences"] = [
            dict(zip(("kind", "name", "uid"), owner, strict=False))
        ]
        if owner[0] == "Job":
            ended = {"terminated": {"exitCode": 0, "reason": "Completed"}}
            pod["status"]["containerStatuses"] = [
                {"name": one["name"], "state": ended}
                for key in ("initContainers", "containers")
                for one in template["spec"].get(key, [])
            ]
        self.spoil(pod)
        self.kept["Pod", namespace, name] = pod


def _labelled(document: Document, wanted: str) -> bool:
    labels = document["metadata"].get("labels") or {}
    for term in filter(None, wanted.split(",")):
        key, equals, value = term.partition("=")
        if key not in labels or (equals and labels[key] != value):
            return False
    return True


class Clock:
    """A clock that advances only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self.passed: Callable[[], None] = lambda: None

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.passed()
