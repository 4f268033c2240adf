"""The files and command lines of one member: mongod.conf, WiredTiger's cache, FerretDB's flags."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML

from tare.runtimes.unit import Site

PORT = 27017
LOG = "mongod.log"
"""file name in the data directory: nobody reads a member's standard output"""
_MIB = 1024 * 1024
_GIB = 1024 * _MIB
SMALLEST_CACHE = 256 * _MIB
"""bytes; mongod refuses less. Source: MongoDB manual, storage.wiredTiger.engineConfig"""


def cache_bytes(memory: int) -> int:
    """WiredTiger's cache for a member that may use so much memory, bytes.

    The server's own rule, half of what is above 1 GiB but at least 256 MiB, applied to the unit's
    limit: a server that looks at the host's memory instead takes more than its container has.

    Source: MongoDB manual, WiredTiger Storage Engine, Memory Use.
    """
    return max((memory - _GIB) // 2, SMALLEST_CACHE)


def mongod_conf(
    *, site: Site, set_name: str, memory: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The member's mongod.conf as a mapping; the study's settings win over everything here.

    Args:
        site: where it will run.
        set_name: name of its replica set.
        memory: what it may use, bytes: its limit, or the machine's memory where it has none.
        settings: parts of mongod.conf, nested as there.
    """
    document: dict[str, Any] = {
        "net": {
            "port": PORT,
            "bindIp": site.listen,
            "unixDomainSocket": {"enabled": False},
        },
        "storage": {
            "dbPath": site.data,
            "wiredTiger": {"engineConfig": {"cacheSizeGB": cache_bytes(memory) / _GIB}},
        },
        "replication": {"replSetName": set_name},
        "systemLog": {
            "destination": "file",
            "path": f"{site.data}/{LOG}",
            "logAppend": True,
        },
    }
    return merged(document, settings)


def given_cache(memory: int, settings: Mapping[str, Any]) -> int:
    """The cache that a member is given, bytes: the study's settings', else `cache_bytes`."""
    place: Any = settings
    for part in ("storage", "wiredTiger", "engineConfig", "cacheSizeGB"):
        place = place.get(part) if isinstance(place, Mapping) else None
    given = isinstance(place, (int, float)) and not isinstance(place, bool)
    return int(place * _GIB) if given else cache_bytes(memory)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with everything that `over` says, part by part."""
    found = dict(base)
    for name, value in over.items():
        known = found.get(name)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            found[name] = merged(known, value)
        else:
            found[name] = value
    return found


def yaml_text(document: Mapping[str, Any]) -> str:
    out = io.StringIO()
    YAML(typ="rt").dump(dict(document), out)
    return out.getvalue()


def mongod_command(mongod: str, site: Site) -> list[str]:
    """The member's command line, without a shell."""
    return [mongod, "--config", f"{site.conf}/mongod.conf"]


def ferretdb_command(ferretdb: str, site: Site) -> list[str]:
    """FerretDB 1.24 with its data in SQLite, telling nobody of itself."""
    return [
        ferretdb,
        f"--listen-addr={site.listen}:{PORT}",
        "--handler=sqlite",
        f"--sqlite-url=file:{site.data}/",
        f"--state-dir={site.data}",
        "--telemetry=disable",
        "--debug-addr=-",
        "--log-level=warn",
    ]
