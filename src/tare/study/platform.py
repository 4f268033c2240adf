"""Where units run: the database's platform, the client's place, and the limits of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field

from tare.machines import registry as machine_registry
from tare.runtimes import registry
from tare.study.part import StudyPart, unset, usual
from tare.study.quantities import GIB, CpuSet, Size

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.machines.declaration import MachinesDeclaration
    from tare.runtimes.declaration import Declaration

    # what is installed is known only when this runs
    Machines: TypeAlias = str
    ClientMachines: TypeAlias = str
    RuntimeName: TypeAlias = str
    Network: TypeAlias = str
    ClientNetwork: TypeAlias = str
    Endpoint: TypeAlias = str
    Storage: TypeAlias = str
    Plugin: TypeAlias = str
else:
    Machines = Literal[machine_registry.names()]
    ClientMachines = Literal[machine_registry.having(lambda one: one.for_clients)]
    RuntimeName = Literal[registry.names()]
    Network = Literal[registry.values(lambda one: one.networks)]
    ClientNetwork = Literal[registry.values(lambda one: one.client_networks)]
    Endpoint = Literal[registry.values(lambda one: one.endpoints)]
    Storage = Literal[registry.values(lambda one: one.storages)]
    Plugin = Literal[registry.values(lambda one: one.plugins)]

OWN_LOOPBACK = "loopback"
"""The loopback device of a unit's own network namespace: packets take the way that a native
server's take, over a device of the same kind."""
BETWEEN_NODES = "between-nodes"
"""The way from one node of a cluster to another: weighed beside the endpoints, no client's."""
BETWEEN_PUBLISHED = "between-published"
"""The same way where nodes reach each other by published ports, as their clients do."""
TO_HOST = "to-host"
"""The way from a client in a container to a native server on the machine below it."""
Address = Literal["", "floating-ip", "host-name"]
_WAYS: dict[str, Network] = {"loopback": "host", "proxy": "published"}
"""Endpoint to the network whose packets take the same way; others have the network's name."""


def published_between(network: str, nodes: int) -> bool:
    """Whether nodes of a cluster reach each other by published ports. An engine's proxy then passes
    their packets on in the machine's network namespace, which is also that of clients."""
    return network == "published" and nodes > 1


def _said(of: Callable[[Declaration], str]) -> str:
    """What each runtime says of a field, after what is true of all."""
    words = ((name, of(one)) for name, one in registry.registered().items())
    return "".join(f"; {name}: {said}" for name, said in words if said)


def _from(fits: Callable[[MachinesDeclaration], bool]) -> str:
    """Where machines of these kinds come from."""
    kinds = machine_registry.registered().values()
    return "; ".join(f"{one.name}: {one.in_words or one.name}" for one in kinds if fits(one))


class Limits(StudyPart):
    """What one unit may use; applied alike on every runtime. null: no limit."""

    cpus: float | None = Field(
        None, gt=0, description="CPU time quota per unit", json_schema_extra={"unit": "cores"}
    )
    cpuset: CpuSet | None = Field(None, description="the CPUs that a unit may run on, e.g. 0-1")
    memory: Annotated[Size, Field(gt=0)] | None = Field(
        None, description="memory limit per unit, page cache included"
    )


class Placement(StudyPart):
    """Where an orchestrator puts a cluster's nodes, and what it sets aside for them."""

    spread: Literal["required", "preferred", "none"] = Field(
        "preferred",
        description="nodes on machines of their own: required (a cluster that is larger than the "
        "orchestrator's cannot be run), preferred, or as the orchestrator likes",
    )
    node_selector: dict[str, str] = Field(
        {}, description="labels that a machine must have, label to value; empty: any machine"
    )
    requests: Limits | None = Field(
        None,
        description="what the scheduler sets aside per node; null: as much as the limits. Together "
        "they are the pod's quality of service, which is recorded",
    )
    volume_size: Annotated[Size, Field(gt=0)] = Field(
        10 * GIB, description="size of each volume claim (storage: pvc)"
    )
    storage_class: str = Field(
        "", description="storage class of volume claims; empty: the cluster's default"
    )


class Domain(StudyPart):
    """Disk and network of a virtual machine that is made for a run."""

    cache: Literal["none", "writeback", "writethrough", "directsync"] = Field(
        "none", description="QEMU's cache mode; none: past this machine's page cache"
    )
    format: Literal["qcow2", "raw"] = Field(
        "qcow2", description="of the disk's file: qcow2, which has the image below it, or raw"
    )
    network: Literal["bridge", "macvtap"] = Field(
        "bridge",
        description="bridge: a tap device on a bridge; macvtap: a device directly on a lower one, "
        "without a bridge",
    )


class Platform(StudyPart):
    """What the database runs on.

    More can be declared than this version can run: a condition that it cannot run is left out of
    the plan, with the reason.
    """

    machines: Machines = Field(
        machine_registry.HERE,
        description="where the machines come from. " + _from(lambda one: True),
    )
    hosts: str = Field(
        "",
        description="of an inventory's machines, the group whose hosts take the nodes; empty: "
        "`nodes`, or where it has none all hosts that are not for clients",
        exclude_if=unset,
    )
    runtime: RuntimeName = Field(registry.BARE, description="how a node is run")
    network: Network = Field(
        "host",
        description="how a client reaches a node. host: the machine's own network; bridge: the "
        "container's address; published: a port mapped through NAT; of orchestrators, host-port: "
        "a port of the node's machine; node-port: a port of every machine; service-ip: the "
        "service's address; container-dns: the container's own name",
    )
    endpoint: Endpoint = Field(
        "",
        description="which of a node's addresses clients use; empty: the network's usual one. Of a "
        "container on a bridge, loopback: 127.0.0.1, by a client inside the container's network "
        "namespace; bridge: the container's address; published: a port of a host address, mapped "
        "by NAT; proxy: a port of the host's loopback, relayed by docker-proxy. Of a unit of an "
        "orchestrator, those of `network`. Conditions that differ in their endpoint alone share "
        "one server",
        exclude_if=unset,
    )
    storage: Storage = Field(
        "directory",
        description="where the data lies: a directory of the machine, an engine's volume, "
        "the container's writable layer; of Kubernetes a hostPath, a persistent volume claim, "
        "an emptyDir",
    )
    plugin: Plugin = Field(
        "",
        description="network plugin of an orchestrator; empty: its own default, or none",
        exclude_if=unset,
    )
    address: Address = Field(
        "",
        description="stable address in front of a machine, where clients use one; empty: the "
        "machine's own address",
        exclude_if=unset,
    )
    limits: Limits = Field(Limits(), description="limits of each database node")
    domain: Domain = Field(
        Domain(),
        description="of machines that are made here, how each keeps its disk",
        exclude_if=usual(Domain()),
    )
    placement: Placement = Field(
        Placement(),
        description="how an orchestrator places nodes over its machines",
        exclude_if=usual(Placement()),
    )

    @property
    def way(self) -> Network:
        """The way of clients' packets, as a network's name: published findings know no endpoints.

        A client on a container's own loopback meets no bridge and no NAT, as on the host's network.
        """
        return _WAYS.get(self.endpoint, self.endpoint) or self.network

    @property
    def source(self) -> MachinesDeclaration:
        """The declaration of its kind of machines."""
        return machine_registry.declared(self.machines)

    @property
    def over_ssh(self) -> bool:
        """Whether nodes are on machines of their own that SSH reaches."""
        return self.source.over_ssh

    @property
    def group(self) -> str:
        """The group of hosts that take the nodes; empty: the usual one of an inventory, or none.

        For virtual machines that are made, it describes them: machines with other limits or disks
        are another group.
        """
        return self.source.group(self)

    @property
    def attachment(self) -> str:
        """The network, and the endpoint where one is named: for readers."""
        return f"{self.network} by {self.endpoint}" if self.endpoint else self.network


class Client(StudyPart):
    """Where the load comes from."""

    tool: Literal["tare", "ycsb", "cassandra-stress", "latte"] = Field(
        "tare",
        description="the load generator of the trials: Tare's own, or one that is fetched; "
        "rows are populated and servers warmed by Tare's own",
    )
    machines: ClientMachines = Field(
        machine_registry.HERE,
        description="where the machines come from. " + _from(lambda one: one.for_clients),
    )
    runtime: RuntimeName = Field(
        registry.BARE,
        description="how a client is run" + _said(lambda one: one.client_in_words),
    )
    network: ClientNetwork = Field(
        "host",
        description="the client's network: the machine's own, or (bridge) one that containers or "
        "pods have" + _said(lambda one: one.client_network_in_words),
    )
    limits: Limits = Field(Limits(), description="limits of each load client")

    @property
    def source(self) -> MachinesDeclaration:
        """The declaration of its kind of machines."""
        return machine_registry.declared(self.machines)
