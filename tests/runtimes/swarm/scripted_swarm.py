"""A scripted Swarm: keeps what is created, and gives every service its task at once.

Tests script the failures. tests/integration uses a real Swarm.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tare.runtimes.swarm.manager import Document, Kind, SwarmError

NO_PID = 2**22 + 1
"""a process id that this machine never has, because scripted tasks run on other machines"""


def node(name: str, address: str, role: str = "worker", **more: Any) -> Document:
    """A ready node; `more` replaces parts of its document."""
    return {
        "ID": f"id-{name}",
        "Spec": {
            "Role": role,
            "Availability": more.get("availability", "active"),
            "Labels": more.get("labels", {}),
        },
        "Description": {
            "Hostname": name,
            "Engine": {"EngineVersion": "20.10.24", "Labels": {"rack": "a"}},
            "Resources": {"NanoCPUs": 2_000_000_000, "MemoryBytes": 2**32},
        },
        "Status": {"State": more.get("state", "ready"), "Addr": address},
    }


def three_nodes() -> list[Document]:
    return [
        node("swarm-1", "10.0.0.11", "manager"),
        node("swarm-2", "10.0.0.12"),
        node("swarm-3", "10.0.0.13"),
    ]


class Clock:
    """A clock that advances only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class ScriptedSwarm:
    """A manager.

    Attributes:
        nodes: documents of the nodes.
        swarm: the engine's own state in the Swarm.
        script: changes a task as it is made.
        answers: target to the unit that answers a container there.
        lost: whether the manager is gone.
        held: ids of nodes that do not end their tasks.
        made: everything that exists, by kind and id.
        log: every change, in order.
    """

    nodes: list[Document] = field(default_factory=three_nodes)
    swarm: Document = field(
        default_factory=lambda: {"LocalNodeState": "active", "ControlAvailable": True}
    )
    script: Callable[[Document, Document], None] = lambda task, service: None
    answers: Callable[[str], str] = lambda target: ""
    lost: bool = False
    held: set[str] = field(default_factory=set)
    made: dict[str, dict[str, Document]] = field(
        default_factory=lambda: {kind: {} for kind in ("service", "config", "network", "task")}
    )
    log: list[str] = field(default_factory=list)
    output: bytes = b""
    where: str = "tcp://10.0.0.11:2376"

    def _answer(self) -> None:
        if self.lost:
            raise SwarmError(
                "the Swarm's manager does not answer", where=self.where, why="refused",
                remedy="docker node ls", status=0,
            )  # fmt: skip

    def info(self) -> Document:
        self._answer()
        return {"Swarm": self.swarm, "ServerVersion": "20.10.24", "Name": "swarm-1"}

    def find(self, kind: Kind, filters: Mapping[str, Any]) -> list[Document]:
        self._answer()
        if kind == "node":
            return copy.deepcopy(self.nodes)
        found = [one for one in self.made.get(kind, {}).values() if _matches(one, filters)]
        return copy.deepcopy(found)

    def inspect(self, kind: Kind, name: str) -> Document:
        self._answer()
        everything = self.nodes if kind == "node" else list(self.made[kind].values())
        for one in everything:
            if name in (one.get("ID"), one.get("Id"), one.get("Name"), _name(one)):
                return copy.deepcopy(one)
        raise SwarmError("no such", where=self.where, why=name, remedy="", status=404)

    def _keep(self, kind: str, document: Document) -> str:
        self._answer()
        identity = f"{kind}{len(self.log)}"
        self.log.append(f"create {kind} {_name(document)}")
        self.made[kind][identity] = document | {"ID": identity, "Id": identity}
        return identity

    def create_network(self, name: str, labels: Mapping[str, str]) -> str:
        more = {"Driver": "overlay", "Options": {}, "IPAM": {"Config": [{"Subnet": "10.9.0.0/24"}]}}
        return self._keep("network", {"Name": name, "Labels": dict(labels), **more})

    def create_config(self, name: str, text: str, labels: Mapping[str, str]) -> str:
        spec = {"Name": name, "Labels": dict(labels), "Data": text}
        return self._keep("config", {"Spec": spec})

    def create_service(self, name: str, document: Document) -> str:
        spec = {"Name": name, **document}
        ports = copy.deepcopy(document["EndpointSpec"].get("Ports") or [])
        for port in ports:
            port.setdefault("PublishedPort", 30000 + len(self.made["service"]))
        virtual = [
            {"NetworkID": one["Target"], "Addr": f"10.9.0.{2 + len(self.made['service'])}/24"}
            for one in document["TaskTemplate"]["Networks"]
            if document["EndpointSpec"]["Mode"] == "vip"
        ]
        endpoint = {"Ports": ports, "VirtualIPs": virtual}
        own = 102 + len(self.made["service"])
        service = self._keep("service", {"Spec": spec, "Endpoint": endpoint})
        task = {
            "ServiceID": service,
            "Name": name,
            "Labels": document["Labels"],
            "CreatedAt": f"{len(self.log):04}",
            "NodeID": self._placed(document),
            "DesiredState": "running",
            "NetworksAttachments": [
                {"Network": {"ID": one["Target"]}, "Addresses": [f"10.9.0.{own}/24"]}
                for one in document["TaskTemplate"]["Networks"]
            ],
            "Status": {
                "State": "running",
                "ContainerStatus": {"ContainerID": f"c-{name}", "PID": NO_PID, "ExitCode": 0},
            },
        }
        self.script(task, spec)
        self._keep("task", task)
        return service

    def _placed(self, document: Document) -> str:
        for constraint in document["TaskTemplate"]["Placement"]["Constraints"]:
            key, _, value = constraint.partition("==")
            if key == "node.id":
                return str(value)
        return str(self.nodes[0]["ID"])

    def remove(self, kind: Kind, name: str) -> None:
        self._answer()
        self.log.append(f"remove {kind} {_name(self.made[kind].pop(name))}")
        if kind == "service":
            tasks = self.made["task"]
            self.made["task"] = {
                k: v for k, v in tasks.items() if v["ServiceID"] != name or v["NodeID"] in self.held
            }

    def logs(self, service: str) -> Iterator[bytes]:
        self._answer()
        yield self.output

    def run(
        self, name: str, document: Mapping[str, Any], network: str, within_s: float
    ) -> tuple[int, bytes]:
        self._answer()
        targets = [word for word in document["command"] if ":" in word]
        return 0, b"\n".join(json.dumps(self._told(target)).encode() for target in targets)

    def _told(self, target: str) -> Document:
        unit = self.answers(target)
        answer = {
            "name": unit,
            "peer": "10.9.0.9:1",
            "local": "10.9.0.2:9042",
            "mtu": {"eth0": 1450},
        }
        return {
            "target": target,
            "from": "10.9.0.9:1",
            "to": "10.9.0.2:9042",
            "answer": answer if unit else None,
            "why": "" if unit else "connection timed out",
        }

    def left(self) -> list[str]:
        """The names of everything that exists."""
        return sorted(_name(one) for kind in self.made.values() for one in kind.values())


def _name(document: Document) -> str:
    return str((document.get("Spec") or {}).get("Name") or document.get("Name") or "")


def _labels(document: Document) -> Mapping[str, str]:
    found = (document.get("Spec") or {}).get("Labels") or document.get("Labels") or {}
    return dict(found)


def _matches(document: Document, filters: Mapping[str, Any]) -> bool:
    if "service" in filters and document.get("Name") != filters["service"]:
        return False
    for wanted in filters.get("label", []):
        key, equals, value = str(wanted).partition("=")
        labels = _labels(document)
        if key not in labels or (equals and labels[key] != value):
            return False
    return True
