"""A set's own description: its version, members, effective settings, and kind of server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tare.databases.mongodb.installation import stand_in
from tare.databases.mongodb.replica_set import Member
from tare.databases.mongodb.session import RefusedError, Session


def describe(session: Session, members: Sequence[Member], nodes: int) -> dict[str, Any]:
    """The record of a set, for the manifest.

    Args:
        session: to one of its members.
        members: as one of them sees the set; a stand-in has none.
        nodes: number of launched nodes.
    """
    build = session.command({"buildInfo": 1})
    options = _asked(session, {"getCmdLineOpts": 1})
    defaults = _asked(session, {"getDefaultRWConcern": 1})
    server = _asked(session, {"serverStatus": 1})
    found: dict[str, Any] = {
        "kind": "mongodb",
        "version": str(build.get("version", "")),
        "nodes": nodes,
        "set": [{"host": m.host, "state": m.state} for m in members],
        "storage_engine": server.get("storageEngine", {}).get("name"),
        "cache_bytes": _cache_size(server),
        # the default without a study's setting: w 1 up to MongoDB 4.4, majority since 5.0
        "write_concern_default": defaults.get("defaultWriteConcern"),
        "settings": options.get("parsed", {}),
    }
    name = stand_in(build)
    return found if name is None else found | {"stand_in": name}


def _asked(session: Session, command: dict[str, Any]) -> dict[str, Any]:
    """An answer, or nothing from a server that does not know the command."""
    try:
        return session.command(command)
    except RefusedError:
        return {}


def _cache_size(server: dict[str, Any]) -> int | None:
    cache = server.get("wiredTiger", {}).get("cache", {})
    size = cache.get("maximum bytes configured")
    return int(size) if size is not None else None
