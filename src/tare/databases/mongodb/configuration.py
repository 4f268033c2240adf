"""The files and command lines of one member: mongod.conf, the flags of FerretDB and the stub."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML

from tare.databases.mongodb.wired_tiger import cache_bytes
from tare.runtimes.unit import Site
from tare.study.quantities import GIB

PORT = 27017
LOG = "mongod.log"
"""file name in the data directory: nobody reads a member's standard output"""


def mongod_conf(
    *, site: Site, set_name: str, memory: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The member's mongod.conf as a mapping; the study's settings win over everything here.

    Args:
        site: where it will run.
        set_name: name of its replica set.
        memory: bytes that it may use: its limit, or the machine's memory if it has no limit.
        settings: parts of mongod.conf, nested as there.
    """
    document: dict[str, Any] = {
        "net": {
            "port": site.binds(PORT),
            "bindIp": _addresses(site),
            "unixDomainSocket": {"enabled": False},
        },
        "storage": {
            "dbPath": site.data,
            "wiredTiger": {"engineConfig": {"cacheSizeGB": cache_bytes(memory) / GIB}},
        },
        "replication": {"replSetName": set_name},
        "systemLog": {
            "destination": "file",
            "path": f"{site.data}/{LOG}",
            "logAppend": True,
        },
    }
    return merged(document, settings)


def _addresses(site: Site) -> str:
    """The addresses on which the member listens.

    An orchestrator's unit is also reached through its ports, which lead to all of its addresses,
    and from here through a tunnel that ends at its loopback.
    """
    if site.everywhere:
        return "0.0.0.0"  # noqa: S104 - inside the container's own network only
    return f"localhost,{site.listen}" if site.seed else site.listen


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` overridden by `over`, part by part."""
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
    """FerretDB 1.24 with its data in SQLite, without telemetry."""
    address = "" if site.everywhere or site.seed else site.listen  # it takes one, or all
    return [
        ferretdb,
        f"--listen-addr={address}:{site.binds(PORT)}",
        "--handler=sqlite",
        f"--sqlite-url=file:{site.data}/",
        f"--state-dir={site.data}",
        "--telemetry=disable",
        "--debug-addr=-",
        "--log-level=warn",
    ]


def stub_command(stub: str, site: Site) -> list[str]:
    """The server without a database, in a set that is initiated like a mongod's."""
    everywhere = site.everywhere or bool(site.seed)  # it takes one address, or all
    address = "0.0.0.0" if everywhere else site.listen  # noqa: S104 - as mongod's, above
    listens = f"{address}:{site.binds(PORT)}"
    return [stub, "--protocol", "mongodb", "--listen", listens, "--set-later"]
