"""How each way is driven for each kind of operation: answers of two sizes, without and with TLS."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tare.lab.quiet_servers import DrivenWay
from tare.lab.weighed_servers import places, ways
from tare.study.platform import BETWEEN_PUBLISHED, OWN_LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tare.analysis.prices import WeighedWay
    from tare.lab.weighed_servers import ServerPlace
    from tare.records.prices import Operation

CONNECTIONS = 32
"""Connections of a way in a slice. A closed one keeps its port for a minute, and its entry in the
kernel's table of connections for two minutes. That table may hold as few as 65,536 entries."""
FURTHER_BYTES = 8000
"""by which the larger answers are larger: copying these bytes costs as much as a bridge"""
FIELDS = 10
"""of a row, as YCSB's core workloads have them"""
ALONE_SHARE = 3
"""Slices of a way with the fewest operations in flight, for each slice of a way with more. An
operation alone costs fifteen times as much; its price in microseconds is as much less certain."""
_RELAYED = ("proxy", BETWEEN_PUBLISHED)
"""Endpoints through docker-proxy. Their price is tens of microseconds and differs by several from
round to round; more slices do not make it more certain."""
WORKING_KIB = 2048
"""Data that a working server walks through for each request: what a CPU's second cache holds here.
A quarter of it left a bridge at half the price; twice as much made the work, whose noise is in
every price, take longer and changed no price (docs/weigh.md)."""
SHARING = 2
"""Operations in flight with which native is weighed again where servers work. By CQL they share
packets, half as many for each, which tells what a packet costs where caches are cold."""
OWN_LOOPBACK_SHARE = 3
"""Slices of a working server's loopback way for each slice of another: it is in the price of every
way to that server."""
_KEYSPACE, _LARGER = "ycsb", "larger"


def variants(
    operation: Operation,
    runtimes: Sequence[str],
    in_flight: Sequence[int],
    without: Sequence[str] = (),
    placed: Callable[[Sequence[str]], list[ServerPlace]] = places,
) -> list[WeighedWay]:
    """Every way as often as the operation asks for, in the order that `tare.analysis.prices`
    expects.

    Args:
        without: names of ways that are not available here.
        placed: the servers of these runtimes, where they are not on this machine.
    """
    found = ways(runtimes, in_flight, without, placed)
    if operation == "kilobyte":
        return [*found, *(replace(way, larger=True) for way in found)]
    if operation == "connection":
        return [*found, *(replace(way, tls=True) for way in found)]
    if operation == "working":
        return [*found, replace(found[0], in_flight=SHARING)]
    return found


def shares(
    ways: Sequence[WeighedWay] | Sequence[DrivenWay], operation: Operation = "request"
) -> list[int]:
    """How many slices each way gets in a pass."""
    if operation == "working":
        return [OWN_LOOPBACK_SHARE if way.endpoint == OWN_LOOPBACK else 1 for way in ways]
    flights = [way.in_flight for way in ways]
    fewest, most = min(flights), max(flights)
    return [
        ALONE_SHARE if way.in_flight == fewest < most and way.endpoint not in _RELAYED else 1
        for way in ways
    ]


def server_options(operation: Operation, larger_row_bytes: int) -> list[str]:
    """Options of the servers' program beside the size of its usual answers."""
    if operation == "kilobyte":
        return ["--ycsb-table", f"{_KEYSPACE}.{_LARGER}={larger_row_bytes // FIELDS}"]
    if operation == "working":
        return ["--walk", str(WORKING_KIB)]
    return ["--tls"] if operation == "connection" else []


def driven(way: WeighedWay, operation: Operation, *, several: bool) -> DrivenWay:
    """How a way is driven.

    Args:
        several: clients name endpoints of its server.
    """
    return DrivenWay(
        way.server,
        way.endpoint if several else "",
        way.in_flight,
        CONNECTIONS if operation == "connection" else 0,
        table=_LARGER if way.larger else "",
        tls=way.tls,
    )
