"""Which weighed way the packets of a condition pass, and whether all of them pass it.

An operation crosses the clients' way once, from a client to the node that coordinates it. Packets
between nodes go by a network of their own, or by published ports, which is another way. On the
host's loopback device everything passes one way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tare.analysis.tariff import NATIVE
from tare.machines.registry import of_record
from tare.runtimes.declaration import PLUGIN
from tare.runtimes.registry import registered
from tare.study.platform import BETWEEN_NODES, BETWEEN_PUBLISHED, TO_HOST, published_between

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.tariff import Tariff
    from tare.records.manifest import TrialManifest


class BilledWay(NamedTuple):
    """The way of a condition's clients, or of its nodes.

    Attributes:
        name: as `tare weigh` names it; empty: it weighs no such way.
        between: the way between nodes; None: the same way, or there is only one node.
        plugin: the network plugin that the way has to lead through; empty: none, or any.
        why: the reason why there is no such way.
    """

    name: str = ""
    between: BilledWay | None = None
    plugin: str = ""
    why: str = ""

    @property
    def whole(self) -> bool:
        """All packets of the condition pass it."""
        return self.between is None

    def unpriced(self, tariff: Tariff) -> str:
        """Why these prices lack the way; empty: they have it."""
        if not self.name:
            return self.why
        if self.name not in tariff:
            return f"the way {self.name} was not weighed"
        if self.plugin and f"{PLUGIN} {self.plugin}" not in tariff.paths[self.name].split(", "):
            return f"the way {self.name} was not weighed through the network plugin {self.plugin}"
        return ""


def way_of(setup: Mapping[str, Any], plugin_there: str = "") -> BilledWay:
    """The way of a condition's clients.

    Args:
        setup: the condition's resolved document.
        plugin_there: the network plugin of the cluster that there is, or was, for a study that
            names none; empty: not known.
    """
    platform = setup.get("platform", {})
    runtime, network = platform.get("runtime", NATIVE), platform.get("network", "host")
    endpoint = platform.get("endpoint") or network
    count = setup.get("database", {}).get("nodes", 1)
    several = count != 1
    if why := _never_weighed(setup):
        return BilledWay(why=why)
    own = registered().get(runtime)  # what ran then need not be installed now
    client = setup.get("client", {})
    if client.get("runtime", NATIVE) != NATIVE:
        if several:
            return BilledWay(
                why="with clients in containers clusters of one node alone have prices"
            )
        return _from_a_container(client, runtime, {network, endpoint})
    if runtime == NATIVE:
        return BilledWay(NATIVE)
    if several and own is not None and endpoint in own.passed_on:
        return BilledWay(
            why=f"by {endpoint} packets to some nodes pass another machine first, and one node "
            "alone was weighed"
        )
    name = f"{runtime}.{endpoint}"
    named = platform.get("plugin") or plugin_there
    plugin = named if own and own.weighed_by_plugin else ""
    over_loopback = endpoint == "host" and own is not None and not own.orchestrator
    whole = not several or over_loopback
    between = BETWEEN_PUBLISHED if published_between(network, count) else BETWEEN_NODES
    nodes = None if whole else BilledWay(f"{runtime}.{between}", plugin=plugin)
    return BilledWay(name, nodes, plugin)


def way_taken(manifest: TrialManifest) -> BilledWay:
    """The way of a measured condition's clients, through the network plugin that was there."""
    cluster = manifest.path.get("cluster")
    return way_of(manifest.setup, cluster.get(PLUGIN, "") if isinstance(cluster, dict) else "")


def _never_weighed(setup: Mapping[str, Any]) -> str:
    """What of the condition `tare weigh` never weighs; empty: nothing."""
    platform = setup.get("platform", {})
    kind = of_record(setup)
    if kind is None or not kind.here:
        return "on other machines packets are not counted in slices, whatever was weighed there"
    if platform.get("address"):
        return "addresses before the machines are not weighed"
    if setup.get("clusters", 1) != 1:
        return "clusters side by side are not weighed"
    return ""


def _from_a_container(client: Mapping[str, Any], runtime: str, taken: set[str]) -> BilledWay:
    """The way of a client in a container on a bridge of this machine. It reaches a server on that
    bridge as another node there does, and a native server by the way to the host.

    Args:
        runtime: the server's.
        taken: network and endpoint by which the server is reached.
    """
    own = registered().get(client["runtime"])
    if own is not None and own.bridged_here and client.get("network") == own.several_on:
        if runtime == NATIVE:
            return BilledWay(f"{own.name}.{TO_HOST}")
        if runtime == own.name and taken == {own.several_on}:
            return BilledWay(f"{own.name}.{BETWEEN_NODES}")
    return BilledWay(
        why="of clients in containers those on a bridge are weighed alone, to a server there or on "
        "the host"
    )
