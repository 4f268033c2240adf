"""Facts of a Swarm: its nodes, and whether the kernel has what its service proxy needs."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.runtimes.swarm.manager import Document, Manager

NO_IP_VS = "the nodes' kernel lacks IP_VS, through which a Swarm's service addresses and ingress go"
_BUILT_IN = ("node.", "engine.")
_JOIN = "docker swarm init on one engine, docker swarm join on the others; or make rig-swarm"


@dataclass(frozen=True)
class Node:
    """A node of a Swarm.

    Attributes:
        id: by which services are bound to it.
        name: its host name.
        address: where other nodes reach it.
        role: manager or worker.
        fault: why it can take no task; empty: it can.
        labels: of the node; of its engine with `engine.labels.` before them.
        cpus: cores that it has.
        memory: bytes that it has.
        engine: version.
    """

    id: str
    name: str
    address: str
    role: str
    fault: str
    labels: Mapping[str, str]
    cpus: float
    memory: int
    engine: str

    def meets(self, selector: Mapping[str, str]) -> bool:
        """Whether it has all these labels; `node.role` and `node.hostname` are known too."""
        own = {"node.role": self.role, "node.hostname": self.name, "node.id": self.id}
        known = {**self.labels, **own}
        return all(known.get(key) == value for key, value in selector.items())


@dataclass(frozen=True)
class SwarmFacts:
    """One Swarm.

    Attributes:
        manager: where it answers.
        version: of the manager's engine.
        nodes: all of them.
        ip_vs: whether the nodes' kernel has IP_VS; None: not known.
    """

    manager: str
    version: str
    nodes: tuple[Node, ...]
    ip_vs: bool | None

    @property
    def usable(self) -> list[Node]:
        """Nodes that can take a task now."""
        return [node for node in self.nodes if not node.fault]

    def fitting(self, selector: Mapping[str, str]) -> list[Node]:
        """Usable nodes with all these labels."""
        return [node for node in self.usable if node.meets(selector)]

    def as_dict(self) -> dict[str, Any]:
        """For records: without labels, which are long."""
        nodes = [{k: v for k, v in asdict(n).items() if k != "labels"} for n in self.nodes]
        return {
            "manager": self.manager,
            "version": self.version,
            "IP_VS": self.ip_vs,
            "nodes": nodes,
        }


def read_facts(manager: Manager, *, local: bool = False) -> SwarmFacts:
    """Ask a Swarm for its facts.

    Args:
        local: whether all its engines run on this machine, and so on its kernel.

    Raises:
        RuntimeUnavailableError: no answer, no Swarm, or the engine is no manager of it.
    """
    info = manager.info()
    swarm = info.get("Swarm") or {}
    state = swarm.get("LocalNodeState") or "inactive"
    if state != "active":
        raise RuntimeUnavailableError(
            "the Docker engine is in no Swarm", where=manager.where,
            why=swarm.get("Error") or f"it says: {state}", remedy=_JOIN,
        )  # fmt: skip
    if not swarm.get("ControlAvailable"):
        others = ", ".join(one["Addr"] for one in swarm.get("RemoteManagers") or [])
        raise RuntimeUnavailableError(
            "the Docker engine is a worker, and only a manager can be asked", where=manager.where,
            why=f"its managers are at {others or 'addresses that it does not tell'}",
            remedy="name a manager's engine with DOCKER_HOST, or in the file of TARE_SWARM",
        )  # fmt: skip
    nodes = sorted((_node(one) for one in manager.find("node", {})), key=lambda node: node.name)
    return SwarmFacts(
        manager.where,
        str(info.get("ServerVersion") or ""),
        tuple(nodes),
        kernel_has_ip_vs() if local else None,
    )


def _node(document: Document) -> Node:
    spec, status = document["Spec"], document["Status"]
    described = document.get("Description") or {}
    engine, resources = described.get("Engine") or {}, described.get("Resources") or {}
    labels = {f"engine.labels.{k}": v for k, v in (engine.get("Labels") or {}).items()}
    return Node(
        id=str(document["ID"]),
        name=str(described.get("Hostname") or document["ID"]),
        address=str(status.get("Addr") or ""),
        role=str(spec.get("Role") or ""),
        fault=node_fault(document),
        labels={**labels, **(spec.get("Labels") or {})},
        cpus=int(resources.get("NanoCPUs") or 0) / 1e9,
        memory=int(resources.get("MemoryBytes") or 0),
        engine=str(engine.get("EngineVersion") or ""),
    )


def node_fault(document: Document) -> str:
    """Why a node can take no task; empty: it can."""
    status = document["Status"]
    if status.get("State") != "ready":
        said = status.get("Message")
        return f"it is {status.get('State')}" + (f": {said}" if said else "")
    availability = document["Spec"].get("Availability")
    return "" if availability == "active" else f"its availability is {availability}"


def constraints(selector: Mapping[str, str]) -> list[str]:
    """A node selector as a service's placement constraints."""
    return [
        f"{key if key.startswith(_BUILT_IN) else f'node.labels.{key}'}=={value}"
        for key, value in selector.items()
    ]


def kernel_has_ip_vs(proc: Path = Path("/proc/net/ip_vs")) -> bool:
    """Whether this machine's kernel has IP_VS, or can load it."""
    modprobe = shutil.which("modprobe")
    if proc.exists():
        return True
    if modprobe is None:
        return False
    done = subprocess.run([modprobe, "-n", "-q", "ip_vs"], capture_output=True, check=False)
    return done.returncode == 0
