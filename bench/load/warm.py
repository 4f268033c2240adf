"""Warms the node up until its cost is stable, as its JIT compiler changes everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bench.load.clients import Client
    from bench.load.server import Server
    from tare.databases.cassandra.session import Session

from bench.load.measure import Cpus, measure

FLAT = 0.03
"""Largest spread of the node's CPU time per operation over the last bursts, as a share."""
BURSTS = 3
_BURST_S = 15


def flat(costs: Sequence[float]) -> bool:
    """Whether the last bursts cost the node the same per operation."""
    last = costs[-BURSTS:]
    return len(last) == BURSTS and max(last) <= min(last) * (1 + FLAT)


def warm(
    client: Client,
    most: int,
    cpus: Cpus,
    server: Server,
    session: Session,
    scratch: Path,
    say: Callable[[str], None],
) -> list[float]:
    """Load the node in bursts until its CPU time per operation is flat.

    Args:
        client: what loads it.
        most: bursts after which it is given up.

    Returns:
        The node's CPU microseconds per operation, per burst.

    Raises:
        LoadError: a burst failed.
    """
    costs: list[float] = []
    while not flat(costs) and len(costs) < most:
        run = measure(client, _BURST_S, cpus, server, session, scratch)
        costs.append(run.server_cpu_us)
        say(f"warm-up {len(costs)}: {run.per_second:,.0f}/s, node {run.server_cpu_us:.1f} us/op")
    if not costs:
        raise LoadError("no burst of warm-up was allowed", remedy="give --warm-up 1 or more")
    return costs
