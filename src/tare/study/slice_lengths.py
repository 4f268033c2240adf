"""The length of a slice and its drain: long enough for the operations in flight, and no longer.

The machine's moods last tens of milliseconds to seconds, so the closer two slices are, the more
moods they share. But a slice begins with all its operations sent at once and ends with fewer and
fewer under way. So it holds the operations in flight several times (docs/decisions/0023-turns.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.study.schema import Setup

USUAL_SLICE_S = 0.25
"""For a server with one condition, which is thawed for each slice; and the longest."""
LEAST_SLICE_S = 0.02
LEAST_DRAIN_S = 0.005
LEAST_DRAIN_OF_WRITES_S = 0.025
"""Some operations wait for the commit log, or for other nodes."""
TURN_S = 0.12
"""slices of a server's turn together, at least"""
ANSWERED_IN_SLICE = 4
"""A slice holds all operations in flight this often."""
ANSWERED_IN_DRAIN = 2
OPERATION_S = 0.0003
"""Rough cost of a read for a node: 0.2 to 0.35 ms with the JVM's quick compiler, 32 in flight
(docs/resolution.md). If it costs more, the check `undrained` says so."""
FEW_IN_FLIGHT = 4
"""With this many, a node's slices are as short as any, and it is still busy."""
IN_FLIGHT = 32
"""where a study leaves it to a search"""


def answered_s(setup: Setup) -> float:
    """Rough time in which the nodes answer all operations in flight once, on CPUs they share."""
    threads = setup.load.threads
    in_flight = threads if isinstance(threads, int) else IN_FLIGHT
    return in_flight * setup.clusters * setup.database.nodes * OPERATION_S


def lengthened(setup: Setup, length_s: float) -> bool:
    """Whether a slice of this length, chosen here, is so long because of operations in flight."""
    return LEAST_SLICE_S < length_s <= ANSWERED_IN_SLICE * answered_s(setup)


def slice_in_turn_s(slices: int, all_s: float) -> float:
    """Length of each slice in a server's turn of `slices` slices, seconds.

    Args:
        all_s: time in which all operations in flight are answered once.
    """
    if slices == 1:
        return USUAL_SLICE_S
    least = max(LEAST_SLICE_S, ANSWERED_IN_SLICE * all_s)
    return min(max(TURN_S / slices, least), USUAL_SLICE_S)


def drain_of(all_s: float) -> float:
    """Time for the last replies to reads after a slice, seconds."""
    return LEAST_DRAIN_S + ANSWERED_IN_DRAIN * all_s


def drain_s(setup: Setup) -> float:
    """Time for the last replies after a slice, seconds; no longer than a usual slice."""
    least = 0.0 if setup.load.only_reads else LEAST_DRAIN_OF_WRITES_S
    return min(max(drain_of(answered_s(setup)), least), USUAL_SLICE_S)
