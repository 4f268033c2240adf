"""The share of reads in a workload, which makes two workloads alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

READS: Mapping[str, float] = {
    "ycsb-a": 0.5,
    "ycsb-b": 0.95,
    "ycsb-c": 1.0,
    "ycsb-d": 0.95,
    "ycsb-f": 0.5,
    "stress-read": 1.0,
    "stress-write": 0.0,
    "stress-mixed": 0.75,
}
"""YCSB's core workloads by their definition (a read-modify-write counts as a write); the mixed load
of cassandra-stress with 3 reads to 1 write, as every source here drove it."""


def reads_of(workload: str) -> float | None:
    """Share of reads, 0 to 1; None for a workload that is not known."""
    return READS.get(workload)


def mixes_apart(workload: str, reads: float | None, found: Sequence[str]) -> float | None:
    """0 where the workload is among the found ones; else how far the nearest mix is, 0.1 to 1.

    A workload with its own mix (`reads`) is not the workload of that name. None where either is
    unknown.
    """
    usual = reads_of(workload)
    own = reads is not None and usual is not None and not math.isclose(reads, usual)
    if workload in found and not own:
        return 0.0
    wanted = usual if reads is None else reads
    shares = [share for one in found if (share := reads_of(one)) is not None]
    if wanted is None or not shares:
        return None
    return max(0.1, min(abs(wanted - share) for share in shares))
