"""The files of one Cassandra node: cassandra.yaml, JVM arguments, logging."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML

from tare.databases.cassandra import gclog
from tare.runtimes.unit import Site

NATIVE_PORT = 9042
STORAGE_PORT = 7000
LOG = "log/system.log"
"""within the data directory, as logback.xml has it"""
TEMPORARY = "tmp"
"""directory under the data directory in which the JVM unpacks native libraries"""
_MIB = 1024 * 1024
_TOKEN_RANGE = 2**64
_FIRST_TOKEN = -(2**63)

QUICK_START = {
    "cassandra.ring_delay_ms": "10000",
    "cassandra.skip_wait_for_gossip_to_settle": "0",
    "cassandra.consistent.rangemovement": "false",
    "cassandra.memtable_row_overhead_computation_step": "10000",
}
"""System properties with which a node of a new, empty cluster starts in seconds. They act during
start-up only; later measurements do not depend on them. The ring delay (30 s by default) bounds how
long a node looks for its first peer: with 1 s, nodes of a busy machine gave up. To learn a row's
overhead in the memtable, some 180 bytes, a node weighs this many rows: 10,000 instead of 100,000
give the same to a byte, in a tenth of the time.

Superusers are set up after 10 s, as everywhere: a node's first read decides for its life in which
order its workers look for work (docs/resolution.md)."""


def even_token(node: int, nodes: int) -> int:
    """The Murmur3 token of the node (0-based) that divides the ring evenly."""
    return _FIRST_TOKEN + _TOKEN_RANGE * node // nodes


def cassandra_yaml(
    *,
    cluster_name: str,
    site: Site,
    seeds: Sequence[str],
    node: int,
    nodes: int,
    key_cache: str | int,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """The node's cassandra.yaml as a mapping; the study's settings win over everything here."""
    behind_nat = site.peers != site.listen
    document: dict[str, Any] = {
        "cluster_name": cluster_name,
        "num_tokens": 1,
        "initial_token": str(even_token(node, nodes)),
        "auto_bootstrap": False,
        "auto_snapshot": False,
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "data_file_directories": [f"{site.data}/data"],
        "commitlog_directory": f"{site.data}/commitlog",
        "hints_directory": f"{site.data}/hints",
        "saved_caches_directory": f"{site.data}/saved_caches",
        "cdc_raw_directory": f"{site.data}/cdc_raw",
        "commitlog_sync": "periodic",
        "commitlog_sync_period": "10000ms",
        "seed_provider": [
            {
                "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters": [{"seeds": ",".join(seeds)}],
            }
        ],
        "listen_address": site.listen,
        "rpc_address": site.listen,
        "storage_port": site.binds(STORAGE_PORT),
        "native_transport_port": site.binds(NATIVE_PORT),
        "start_native_transport": True,
        "endpoint_snitch": "SimpleSnitch",
        "disk_failure_policy": "stop",
        "commit_failure_policy": "stop",
    }
    if behind_nat:
        document |= {
            "broadcast_address": site.peers,
            "rpc_address": "0.0.0.0",  # noqa: S104 - inside the container's own network only
            "broadcast_rpc_address": site.endpoint_host,
        }
    elif site.everywhere:
        document |= {
            "rpc_address": "0.0.0.0",  # noqa: S104 - inside the container's own network only
            "broadcast_rpc_address": site.listen,
        }
    if key_cache != "auto":
        document["key_cache_size"] = f"{int(key_cache) // _MIB}MiB"
    if "num_tokens" in settings:
        del document["initial_token"]
    return document | dict(settings)


def yaml_text(document: Mapping[str, Any]) -> str:
    out = io.StringIO()
    YAML(typ="rt").dump(dict(document), out)
    return out.getvalue()


def jvm_arguments(*, heap_bytes: int, extra: Sequence[str], class_path: Sequence[str]) -> str:
    """An argument file for `java @FILE`: Cassandra 5.0's own flags for Java 17, heap, class path.

    The class path names every jar in order: the JVM expands `lib/*` in the order of the directory,
    which can differ between a host and an image.
    """
    flags = (files(__package__) / "jvm17.args").read_text(encoding="ascii")
    megabytes = heap_bytes // _MIB
    own = [f"-Xms{megabytes}m", f"-Xmx{megabytes}m", *extra, "-cp", ":".join(class_path)]
    return flags + "".join(f'"{_quoted(argument)}"\n' for argument in own)


def _quoted(argument: str) -> str:
    """The argument between quotation marks, for an argument file of java."""
    return argument.replace("\\", "\\\\").replace('"', '\\"')


def logback() -> str:
    return (files(__package__) / "logback.xml").read_text(encoding="ascii")


def temporary(site: Site) -> str:
    """A directory that exists before the JVM starts, as the node sees it: its own or the image's.

    The image's /tmp goes with the container.
    """
    return f"{site.data}/{TEMPORARY}" if site.data_on_host is not None else "/tmp"  # noqa: S108


def command(
    *, java: str, lib: str, jamm: str, site: Site, archive: str = "", record: str = ""
) -> list[str]:
    """The node's command line, without a shell. JMX stays closed: nothing needs it.

    Args:
        archive: name of the class-data archive in its configuration directory; empty: none.
        record: name of a file in its data directory to which it writes the classes it loads.
    """
    properties = {
        "cassandra.config": f"file://{site.conf}/cassandra.yaml",
        "cassandra.storagedir": site.data,
        "cassandra.logdir": f"{site.data}/log",
        "logback.configurationFile": f"{site.conf}/logback.xml",
        "cassandra-foreground": "yes",
        **QUICK_START,
    }
    if site.data_on_host is not None:
        properties["java.io.tmpdir"] = temporary(site)
    return [
        java,
        f"@{site.conf}/jvm.args",
        f"-javaagent:{lib}/{jamm}",
        gclog.option(temporary(site)),
        *([f"-XX:SharedArchiveFile={site.conf}/{archive}"] if archive else []),
        *(["-Xshare:off", f"-XX:DumpLoadedClassList={site.data}/{record}"] if record else []),
        *(f"-D{name}={value}" for name, value in properties.items()),
        "org.apache.cassandra.service.CassandraDaemon",
    ]
