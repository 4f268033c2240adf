"""Packets between the nodes of a cluster: how many, and by which weighed way.

A node's packets are counted in its own network namespace. A packet between two nodes is therefore
counted at both ends, a client's packet at one. On the host's loopback device all packets pass one
way and are counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tare.analysis.counted import counts_per_operation, over_deployments, why_no_calls
from tare.analysis.operation_lines import Doer
from tare.analysis.priced_pair import Paid
from tare.analysis.tariff import NATIVE
from tare.analysis.why.resources import CLIENT_PACKETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tare.analysis.amounts import Amount
    from tare.analysis.billed_ways import BilledWay
    from tare.analysis.tariff import Tariff
    from tare.analysis.trials import Trial

PACKETS = "net.server_packets_per_op"
_BETWEEN = "between"
_SENT = "what nodes send each other"
_SHARED = "several nodes of the cluster shared a machine, and the way was weighed between two"


class Packets(NamedTuple):
    """Packets per operation of a condition; None where they were not counted.

    Attributes:
        servers: packets that its servers sent and received.
        clients: of these, packets between clients and servers.
        between: packets that one node sent and another received, each counted once.
    """

    servers: Amount | None
    clients: Amount | None
    between: Amount | None


class BilledSide(NamedTuple):
    """One condition: its way, its packets, and where it ran.

    Attributes:
        deployments: the deployments that served its trials.
        does: runtime and storage of its servers, and its counts beside the packets.
        shared: nodes of its cluster were on one machine of their orchestrator.
    """

    way: BilledWay
    packets: Packets
    deployments: frozenset[str]
    does: Doer
    shared: bool = False

    def paid(self, condition: str, *, nodes: bool) -> list[Paid]:
        """Its packets by way.

        Args:
            nodes: packets between nodes are paid for, too.
        """
        clients = Paid(condition, self.way.name, self.packets.clients)
        if not nodes:
            return [clients]
        if self.way.between is None:
            return [clients._replace(packets=self.packets.servers)]
        return [clients, Paid(condition, self.way.between.name, self.packets.between, nodes=True)]

    def doing(self, paid: Sequence[Paid]) -> Doer:
        """What the condition does beside these packets."""
        clients, *nodes = paid
        own = self.does._replace(way=clients.way, packets=clients.packets)
        return own._replace(nodes=(nodes[0].way, nodes[0].packets)) if nodes else own

    def unpriced(self, tariff: Tariff) -> str:
        """Why packets between its nodes have no price; empty: they have one."""
        if self.way.between is None:
            return ""
        return self.way.between.unpriced(tariff) or (_SHARED if self.shared else "")


def billed_side(way: BilledWay, trials: Sequence[Trial]) -> BilledSide:
    """A condition's side of the bill, from its trials."""
    setup = trials[0].manifest.setup
    platform = setup.get("platform", {})
    beside = [one.beside | _between(one) for one in trials]
    names = (PACKETS, CLIENT_PACKETS, _BETWEEN)
    return BilledSide(
        way,
        Packets(*(over_deployments(trials, beside, name) for name in names)),
        frozenset(one.manifest.deployment for one in trials),
        Doer(
            way.name,
            None,
            platform.get("runtime", NATIVE),
            platform.get("storage", "directory"),
            counts_per_operation(trials),
            why_no_calls(trials),
            client=setup.get("client", {}).get("runtime", NATIVE),
        ),
        any(_on_one_machine(one) for one in trials),
    )


def unpriced_nodes(tariff: Tariff, sides: Iterable[BilledSide]) -> list[str]:
    """Packets between nodes, with the reasons why they have no price; empty: they have one."""
    why = dict.fromkeys(reason for one in sides if (reason := one.unpriced(tariff)))
    return [f"{_SENT} ({'; '.join(why)})"] if why else []


def _between(trial: Trial) -> dict[str, float]:
    """Packets that one node sent and another received; empty unless clients' are counted apart."""
    if CLIENT_PACKETS not in trial.beside or PACKETS not in trial.beside:
        return {}
    return {_BETWEEN: max((trial.beside[PACKETS] - trial.beside[CLIENT_PACKETS]) / 2, 0.0)}


def _on_one_machine(trial: Trial) -> bool:
    """Whether nodes of its cluster shared a machine of their orchestrator, as far as recorded."""
    machines = [one.machine for one in trial.manifest.units if one.role == "database"]
    return all(machines) and len(set(machines)) < len(machines)
