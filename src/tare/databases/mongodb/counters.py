"""A member's counts since it started, from an answer to `serverStatus` of any release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COUNTERS = {
    "requests.insert": "opcounters.insert",
    "requests.query": "opcounters.query",
    "requests.update": "opcounters.update",
    "requests.command": "opcounters.command",
    "requests.getmore": "opcounters.getmore",
    "replication.applied": "metrics.repl.apply.ops",
    "replication.bytes": "metrics.repl.network.bytes",
    "network.bytes_in": "network.bytesIn",
    "network.bytes_out": "network.bytesOut",
    "cache.bytes_read": "wiredTiger.cache.bytes read into cache",
    "cache.bytes_written": "wiredTiger.cache.bytes written from cache",
    "cache.evicted_by_applications": "wiredTiger.cache.pages evicted by application threads",
    "journal.bytes": "wiredTiger.log.log bytes written",
    "journal.syncs": "wiredTiger.log.log sync operations",
    "checkpoint.count": "wiredTiger.transaction.transaction checkpoints",
    "checkpoint.ms": "wiredTiger.transaction.transaction checkpoint total time (msecs)",
    "connections.made": "connections.totalCreated",
    "page_faults": "extra_info.page_faults",
}
"""Tare's names, and the counter's place in `serverStatus`, up to MongoDB 7.0.
Source: MongoDB manual, serverStatus."""
_SINCE_8 = {
    "checkpoint.count": "wiredTiger.checkpoint.total succeed number of checkpoints",
    "checkpoint.ms": "wiredTiger.checkpoint.total time (msecs)",
}
"""Places of counters that MongoDB 8.0 has moved; the manual still shows the old places.
Source: WiredTiger, dist/stat_data.py, CheckpointStat; missing in 7.0:
open-telemetry/opentelemetry-collector-contrib issue 51193."""
_EVICTED = "cache.evicted_by_applications"
_TRIED, _FAILED = (
    f"wiredTiger.cache.page evict {what} by application threads"
    for what in ("attempts", "failures")
)
"""MongoDB 8.0 counts these instead of evicted pages. Source: as above, EvictStat."""


def counters(status: Mapping[str, Any]) -> dict[str, float]:
    """The counters of an answer to `serverStatus`; missing ones are left out."""
    found = {name: _at(status, path) for name, path in COUNTERS.items()}
    for name, path in _SINCE_8.items():
        if found[name] is None:
            found[name] = _at(status, path)
    tried, failed = _at(status, _TRIED), _at(status, _FAILED)
    if found[_EVICTED] is None and tried is not None and failed is not None:
        found[_EVICTED] = tried - failed
    return {name: value for name, value in found.items() if value is not None}


def _at(status: Mapping[str, Any], path: str) -> float | None:
    """The number at a path of names with dots between; None where there is none."""
    value: Any = status
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if number else None
