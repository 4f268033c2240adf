"""Setups that this version cannot run on any machine, each with the reason and the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.runtimes.swarm.facts import NO_IP_VS
from tare.runtimes.swarm.path import INSIDE_REMEDY, ONLY_INSIDE, PROXIED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.machines.inventory.host import Inventory
    from tare.runtimes.kubernetes.facts import ClusterFacts
    from tare.runtimes.swarm.facts import SwarmFacts
    from tare.study.schema import Setup

RUNTIMES = ("native", "docker", "kubernetes", "swarm")
"""Runtimes that this version has, as a study names them."""
_NO_CLUSTER = "no Kubernetes cluster is named here"
_NAME_ONE = (
    "name one with KUBECONFIG, or make one with `make rig` (docs/kubernetes.md); `tare doctor` "
    "says whether it can be used"
)
_NO_SWARM = "no Docker Swarm is named here"
_NAME_SWARM = (
    "name a manager with DOCKER_HOST, a docker context or TARE_SWARM, or start a Swarm here "
    "with `make rig-swarm` (docs/swarm.md); `tare doctor` says whether it can be used"
)
_NO_INVENTORY = "no inventory of hosts is named here"
_NAME_INVENTORY = (
    "name one with TARE_INVENTORY, Ansible's or one of two lines (docs/machines.md); "
    "`tare doctor --machines` says whether its hosts can be used"
)
_ELSEWHERE = "measure it with another load generator and bring its files in with `tare import`"
_INSIDE = (
    "have such machines as hosts of a group (platform.machines: ssh and platform.hosts, "
    "docs/machines.md), or run the other conditions once on the physical machine and once inside "
    "the virtual one, each by its own Tare, then `tare compare` both runs"
)
_SAME_LOAD = (
    "; give both the same fixed threads or rate (`--scale printed` where the study has it, else in "
    "its file), since each run would search a maximum of its own"
)
_NAMES = {"kvm": "KVM", "vmware": "VMware", "mongodb": "MongoDB"}


@dataclass(frozen=True)
class Obstacle:
    """Why a setup cannot be run.

    Attributes:
        field: path of the first field that asks for what there is not.
        why: the reason; several are joined by semicolons.
        remedy: what to do about the first.
        reasons: where there are several, each by itself.
    """

    field: tuple[str, ...]
    why: str
    remedy: str
    reasons: tuple[str, ...] = ()

    @property
    def whys(self) -> tuple[str, ...]:
        """Each reason by itself."""
        return self.reasons or (self.why,)


@dataclass(frozen=True)
class Cluster:
    """A Kubernetes cluster that is named here. `facts` is None where it does not answer now."""

    facts: ClusterFacts | None


@dataclass(frozen=True)
class Swarm:
    """A Docker Swarm that is named here. `facts` is None where it does not answer now."""

    facts: SwarmFacts | None


def no_cluster() -> RuntimeUnavailableError:
    """The error for a setup that needs a cluster where none is named."""
    return RuntimeUnavailableError(_NO_CLUSTER, remedy=_NAME_ONE)


def obstacle(
    setup: Setup,
    cluster: Cluster | None = None,
    swarm: Swarm | None = None,
    inventory: Inventory | None = None,
) -> Obstacle | None:
    """What hinders this setup in this version; None where nothing does.

    An engine or a cluster that does not answer now is no obstacle: `tare plan` refuses the study
    until it answers.

    Args:
        setup: one condition's.
        cluster: the Kubernetes cluster that is named here; None: none is.
        swarm: the Docker Swarm that is named here; None: none is.
        inventory: the hosts that are named here; None: none are.
    """
    found = [*_obstacles(setup), *_of_cluster(setup, cluster), *_of_swarm(setup, swarm)]
    found += _of_hosts(setup, inventory)
    if not found:
        return None
    whys = tuple(one.why for one in found)
    return Obstacle(found[0].field, "; ".join(whys), found[0].remedy, whys)


def _obstacles(setup: Setup) -> Iterator[Obstacle]:
    database, platform = setup.database, setup.platform
    if database.kind == "mongodb":
        yield from _without_server(setup)
        yield from _without_binding(setup)
    if platform.endpoint:
        yield from _of_endpoint(setup)
    if platform.machines not in ("local", "ssh"):
        why = f"this version makes no {_named(platform.machines)} machines"
        remedy = _INSIDE + (_SAME_LOAD if setup.load.sought is not None else "")
        yield Obstacle(("platform", "machines"), why, remedy)
    if platform.runtime not in RUNTIMES:
        why = f"this version has no runtime for {platform.runtime}"
        yield Obstacle(("platform", "runtime"), why, _ELSEWHERE)
    if platform.address:
        why = f"this version gives machines no {platform.address}"
        yield Obstacle(("platform", "address"), why, _ELSEWHERE)


def _of_endpoint(setup: Setup) -> Iterator[Obstacle]:
    """An endpoint is kept by a client that stays where it was told to go."""
    if setup.database.kind != "cassandra":
        why = f"this version gives {_named(setup.database.kind)} no endpoints: members know each "
        why += "other, and clients them, by one address"
        remedy = "leave platform.endpoint out, set platform.network, then `tare plan` again"
        yield Obstacle(("platform", "endpoint"), why, remedy)
    if setup.client.tool != "tare":
        why = f"{setup.client.tool} may go where nodes say they are, not to their "
        why += setup.platform.endpoint
        remedy = "leave platform.endpoint out, or load it with `tare load`"
        yield Obstacle(("client", "tool"), why, remedy)


def _of_cluster(setup: Setup, cluster: Cluster | None) -> Iterator[Obstacle]:
    platform, client = setup.platform, setup.client
    if "kubernetes" not in (platform.runtime, client.runtime):
        return
    told_by_nodes = platform.way in ("host", "container-dns")
    if client.tool != "tare" and not told_by_nodes:
        why = f"{client.tool} goes where nodes say they are, not to their {platform.way}"
        remedy = "set platform.network to host or container-dns, or load it with `tare load`"
        yield Obstacle(("client", "tool"), why, remedy)
    if cluster is None:
        yield Obstacle(("platform", "runtime"), _NO_CLUSTER, _NAME_ONE)
        return
    facts = cluster.facts
    if facts is None or platform.runtime != "kubernetes":
        return
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
    elif platform.placement.spread == "required" and able < setup.database.nodes:
        why = f"{setup.database.nodes} nodes on machines of their own, where {able} can take one"
        remedy = "set platform.placement.spread to preferred; `tare doctor` lists the machines"
        yield Obstacle(("platform", "placement", "spread"), why, remedy)


def _of_swarm(setup: Setup, swarm: Swarm | None) -> Iterator[Obstacle]:
    platform, client = setup.platform, setup.client
    if platform.runtime != "swarm":
        return
    if swarm is None:
        yield Obstacle(("platform", "runtime"), _NO_SWARM, _NAME_SWARM)
        return
    if platform.plugin == "weave":
        why = "this version makes a Swarm's networks with the overlay driver, not with Weave"
        yield Obstacle(("platform", "plugin"), why, "leave platform.plugin out, or set overlay")
    if client.tool != "tare" and platform.network != "host":
        why = f"{client.tool} goes where nodes say they are, which is on a network of containers"
        remedy = "set platform.network to host, or load it with `tare load`"
        yield Obstacle(("client", "tool"), why, remedy)
    if platform.way in ONLY_INSIDE and client.runtime != "swarm":
        why = f"{platform.way} of a Swarm is reached by containers on its network only"
        yield Obstacle(("platform", "network"), why, INSIDE_REMEDY)
    facts = swarm.facts
    if facts is None:
        return
    if platform.way in PROXIED and facts.ip_vs is False:
        remedy = "a kernel with IP_VS; network: host-port and container-dns need none"
        yield Obstacle(("platform", "network"), NO_IP_VS, remedy)
    able = len(facts.fitting(platform.placement.node_selector))
    if platform.placement.spread == "required" and able < setup.database.nodes:
        why = f"{setup.database.nodes} nodes on machines of their own, where {able} can take one"
        remedy = "set platform.placement.spread to preferred; docker node ls shows the machines"
        yield Obstacle(("platform", "placement", "spread"), why, remedy)


def _of_hosts(setup: Setup, inventory: Inventory | None) -> Iterator[Obstacle]:
    platform, client = setup.platform, setup.client
    if "ssh" not in (platform.machines, client.machines):
        return
    place = "platform" if platform.machines == "ssh" else "client"
    if inventory is None:
        yield Obstacle((place, "machines"), _NO_INVENTORY, _NAME_INVENTORY)
        return
    wanted, there = setup.database.nodes, len(inventory.nodes)
    if platform.machines == "ssh" and not platform.hosts and wanted > there:
        why = f"{wanted} database nodes, each on a host of its own, where the inventory has {there}"
        remedy = f"add hosts to the group `nodes` of {inventory.source}"
        yield Obstacle(("platform", "machines"), why, remedy)
    if platform.machines == "ssh":
        own = inventory.nodes_of(platform.hosts)
        six = [one.name for one in own if ":" in one.service_address]
        if six:
            why = f"{', '.join(six)}: this version reaches databases by IPv4 only"
            remedy = f"give these hosts a name or an IPv4 address as service in {inventory.source}"
            yield Obstacle(("platform", "machines"), why, remedy)
        yield from _not_brought(setup)
        if platform.network == "published":
            why = "this version publishes no container's ports on other hosts"
            yield Obstacle(("platform", "network"), why, "set platform.network to host")
    if client.machines == "ssh":
        yield from _of_client_hosts(setup, inventory)


def _not_brought(setup: Setup) -> Iterator[Obstacle]:
    """Of databases, hosts are brought files, of which an image is made there."""
    database = setup.database
    if database.image is not None and setup.platform.runtime == "docker":
        why = "this version makes its own image on other hosts, and pulls none there"
        remedy = "leave database.image out"
        if database.kind == "mongodb":
            remedy += ", and set database.home to the directory of a mongod"
        yield Obstacle(("database", "image"), why, remedy)


def _of_client_hosts(setup: Setup, inventory: Inventory) -> Iterator[Obstacle]:
    if not inventory.clients:
        why = "the inventory has no host for load clients"
        remedy = f"add a group `clients` to {inventory.source}, or set client.machines to local"
        yield Obstacle(("client", "machines"), why, remedy)
    if setup.client.network != "host":
        why = "this version gives clients on other hosts the hosts' own network"
        yield Obstacle(("client", "network"), why, "set client.network to host")
    if setup.client.tool != "tare":
        why = f"this version does not bring {setup.client.tool} to other hosts"
        remedy = "set client.machines to local, or load it with `tare load`"
        yield Obstacle(("client", "tool"), why, remedy)


def _without_server(setup: Setup) -> Iterator[Obstacle]:
    """No public package has MongoDB's server: it is the user's own, or an image's, or none."""
    database = setup.database
    if database.home is not None or database.stand_in:
        return
    without = "; without one, database.stand_in: true has the stub in its place, for what the "
    without += "platform costs alone"
    if setup.platform.runtime != "native":
        if database.image is None:
            why = "MongoDB's server cannot be fetched, and neither an image nor a directory of it "
            why += "is named"
            remedy = "set database.image to an image of MongoDB, or database.home to the directory "
            remedy += "of a mongod, of which Tare makes one, then `tare plan` again"
            yield Obstacle(("database", "kind"), why, remedy + without)
    else:
        why = "MongoDB's server cannot be fetched, and no directory of it is named"
        remedy = "set database.home to the directory of a mongod, then `tare plan` again"
        yield Obstacle(("database", "kind"), why, remedy + without)


def _without_binding(setup: Setup) -> Iterator[Obstacle]:
    """YCSB itself is fetched with its binding for CQL only."""
    if setup.client.tool == "ycsb":
        why = "this version runs YCSB's own client with CQL only"
        remedy = "set client.tool to tare, which sends the same documents, then `tare plan` again"
        yield Obstacle(("client", "tool"), why, remedy)


def _named(word: str) -> str:
    """The word as its owners write it."""
    return _NAMES.get(word, word)
