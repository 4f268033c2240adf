"""Packets of a trial's clients, counted in its warm-up slices.

They are told apart from packets that pass between its nodes by published ports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.monitor.packet_tap import PacketTap, bridge_of
from tare.study.platform import published_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.lab.conductor import Driven
    from tare.runtimes.unit import Running
    from tare.study.schema import Setup


def begin_tapping(nodes: Sequence[Running], setup: Setup) -> PacketTap | None:
    """Begin where the counters of network namespaces mix packets of clients and nodes.

    None: they do not, the nodes' bridge is not on this machine, or only root could.
    """
    platform = setup.platform
    if not platform.source.here or not published_between(platform.network, setup.database.nodes):
        return None
    unit = nodes[0].unit
    bridge = bridge_of(unit.site.listen)
    try:
        return PacketTap(bridge, unit.ports[0]) if bridge is not None else None
    except OSError:
        return None


def client_packets_per_op(
    driven: Sequence[Driven], trial: int, operations: Sequence[int]
) -> float | None:
    """Packets between clients and servers per successful operation; None: not counted.

    Args:
        driven: slices of the whole block.
        operations: of each of the trial's warm-up slices, over all clients.
    """
    own = [one.client_packets for one in driven if one.slot.trial == trial and not one.slot.counts]
    found = [one for one in own if one is not None]
    if len(found) != len(own) or len(own) != len(operations) or not sum(operations):
        return None
    return sum(found) / sum(operations)
