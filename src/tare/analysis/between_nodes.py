"""What nodes of a cluster send each other: how many packets, and by which weighed way.

A node's packets are counted in its own network namespace: one between two nodes at both of its
ends, one of a client at one. On the host's loopback device all pass one way, and are counted once.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tare.analysis.amounts import Amount
from tare.analysis.priced_pair import Paid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tare.analysis.billed_ways import BilledWay
    from tare.analysis.tariff import Tariff
    from tare.analysis.trials import Trial

PACKETS = "net.server_packets_per_op"
CLIENT_PACKETS = "net.client_packets_per_op"
_SENT = "what nodes send each other"
_SHARED = "several nodes of the cluster shared a machine, and the way was weighed between two"


class Packets(NamedTuple):
    """Packets per operation of a condition; None where they were not counted.

    Attributes:
        servers: that its servers sent and received.
        clients: of these, those between clients and servers.
        between: that one node sent and another received, each once.
    """

    servers: Amount | None
    clients: Amount | None
    between: Amount | None


class BilledSide(NamedTuple):
    """One condition: its way, its packets, and where it ran.

    Attributes:
        deployments: that served its trials.
        shared: nodes of its cluster were on one machine of their orchestrator.
    """

    way: BilledWay
    packets: Packets
    deployments: frozenset[str]
    shared: bool = False

    def paid(self, condition: str, *, nodes: bool) -> list[Paid]:
        """Its packets by way.

        Args:
            nodes: what nodes send each other is paid for, too.
        """
        clients = Paid(condition, self.way.name, self.packets.clients)
        if not nodes:
            return [clients]
        if self.way.between is None:
            return [clients._replace(packets=self.packets.servers)]
        return [clients, Paid(condition, self.way.between.name, self.packets.between, nodes=True)]

    def unpriced(self, tariff: Tariff) -> str:
        """Why there is no price of what its nodes send each other; empty: there is one."""
        if self.way.between is None:
            return ""
        return self.way.between.unpriced(tariff) or (_SHARED if self.shared else "")


def billed_side(way: BilledWay, trials: Sequence[Trial]) -> BilledSide:
    """A condition's, of its trials."""
    return BilledSide(
        way,
        Packets(*(per_operation(trials, of) for of in (_servers, _clients, _between))),
        frozenset(one.manifest.deployment for one in trials),
        any(_on_one_machine(one) for one in trials),
    )


def unpriced_nodes(tariff: Tariff, sides: Iterable[BilledSide]) -> list[str]:
    """What nodes send each other, with the reasons why it has no price; nothing: it has."""
    why = dict.fromkeys(reason for one in sides if (reason := one.unpriced(tariff)))
    return [f"{_SENT} ({'; '.join(why)})"] if why else []


def per_operation(trials: Sequence[Trial], of: Callable[[Trial], float | None]) -> Amount | None:
    """What trials counted, over the deployments; None where fewer than two counted it."""
    own: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if (value := of(trial)) is not None:
            own[trial.manifest.deployment].append(value)
    means = [float(np.mean(values)) for values in own.values()]
    if len(means) < 2:
        return None
    error = float(np.std(means, ddof=1)) / math.sqrt(len(means))
    return Amount(float(np.mean(means)), error, len(means) - 1)


def _servers(trial: Trial) -> float | None:
    return trial.beside.get(PACKETS)


def _clients(trial: Trial) -> float | None:
    return trial.beside.get(CLIENT_PACKETS)


def _between(trial: Trial) -> float | None:
    servers, clients = _servers(trial), _clients(trial)
    return None if servers is None or clients is None else max((servers - clients) / 2, 0.0)


def _on_one_machine(trial: Trial) -> bool:
    """Whether nodes of its cluster shared a machine of their orchestrator, as far as it is told."""
    machines = [one.machine for one in trial.manifest.units if one.role == "database"]
    return all(machines) and len(set(machines)) < len(machines)
