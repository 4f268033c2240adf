"""WiredTiger's cache, as MongoDB's server sizes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tare.study.quantities import GIB, MIB

SMALLEST_CACHE = 256 * MIB
"""bytes; mongod refuses less. Source: MongoDB manual, storage.wiredTiger.engineConfig"""
_PLACE = ("storage", "wiredTiger", "engineConfig", "cacheSizeGB")


def cache_bytes(memory: int) -> int:
    """WiredTiger's cache, bytes, for a member that may use this much memory.

    The server's own rule (half of the memory above 1 GiB, at least 256 MiB) is applied to the
    unit's limit: a server that takes the host's memory instead uses more than its container has.

    Source: MongoDB manual, WiredTiger Storage Engine, Memory Use.
    """
    return max((memory - GIB) // 2, SMALLEST_CACHE)


def chosen_cache(settings: Mapping[str, Any]) -> int | None:
    """The cache that mongod.conf asks for, bytes; None: it leaves it to the server."""
    place: Any = settings
    for part in _PLACE:
        place = place.get(part) if isinstance(place, Mapping) else None
    given = isinstance(place, (int, float)) and not isinstance(place, bool)
    return int(place * GIB) if given else None


def given_cache(memory: int, settings: Mapping[str, Any]) -> int:
    """A member's cache, bytes: by the study's settings, else `cache_bytes`."""
    chosen = chosen_cache(settings)
    return cache_bytes(memory) if chosen is None else chosen
