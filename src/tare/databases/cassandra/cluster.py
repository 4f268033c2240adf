"""One Cassandra cluster: formed from units, waited for, described, reset, taken down."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tare.artifacts import class_archive
from tare.artifacts.class_archive import ClassArchive
from tare.databases.cassandra import configuration, schema
from tare.databases.cassandra.session import Session, connect
from tare.databases.nodes import Nodes
from tare.runtimes.unit import Bits, Running, Site

START_TIMEOUT_S = 240.0
"""longest wait for one node; default flags took up to 80 s on two busy cores"""
READY_TIMEOUT_S = 60.0
CLUSTER_NAME = "tare"
"""The same for all clusters: a node refuses a data directory with another cluster name."""


@dataclass(frozen=True)
class Installation:
    """Where a runtime's units find Cassandra's files."""

    java: str
    lib: str
    jamm: str
    jars: tuple[str, ...]
    """file names in `lib`, in the order of the class path; empty: all, in the JVM's own order"""
    bits: Bits
    unsnapshotted = ""

    def class_path(self, conf: str) -> list[str]:
        """The configuration directory, then the jars."""
        return [conf, *(f"{self.lib}/{jar}" for jar in self.jars or ("*",))]


@dataclass
class CassandraCluster(Nodes):
    """The units of one cluster; `deploy` starts it, `destroy` removes all of it."""

    installation: Installation
    classes: ClassArchive | None = field(default=None, kw_only=True)
    """the archive that the nodes' JVMs map at their start; None: they load classes from jars"""
    record_classes: str = field(default="", kw_only=True)
    """name of a file in the data directory in which a node lists its classes; empty: none"""
    _to_start: list[Site] = field(default_factory=list, kw_only=True)
    """sites of the nodes that wait for the first one"""

    PORT = configuration.NATIVE_PORT
    LOG = configuration.LOG

    def load_from(self, archive: ClassArchive | None) -> None:
        self.classes = archive

    def begin(self) -> None:
        """Start the first node; the others look for it, so they wait until it answers.

        Raises:
            RuntimeUnavailableError: the runtime could not start a unit.
        """
        first, *self._to_start = sites = list(self.sites())
        for index, site in enumerate(sites):
            self._configure(site, first.seed or first.peers, index)
        self._launch(first)

    def deploy(self) -> None:
        """Start every node, wait until all see each other and a write succeeds, make the schema.

        Raises:
            ClusterError: a node died or did not come up in time; its last log lines are in `why`.
            RuntimeUnavailableError: the runtime could not start a unit.
        """
        if not self.nodes:
            self.begin()
        self._await_port(self.nodes[0])
        for site in self._to_start:
            self._launch(site)
        for node in self.nodes[1:]:
            self._await_port(node)
        self._await_ready()
        self.create_schema()

    def _configure(self, site: Site, seed: str, index: int) -> None:
        """Write a node's files, all nodes' before the first starts: a runtime may need all."""
        document = configuration.cassandra_yaml(
            cluster_name=CLUSTER_NAME,
            site=site,
            seeds=[seed],
            node=index,
            nodes=self.database.nodes,
            key_cache=self.database.key_cache,
            settings=self.database.settings,
        )
        contents = {
            "cassandra.yaml": configuration.yaml_text(document),
            "jvm.args": configuration.jvm_arguments(
                heap_bytes=self.database.heap,
                extra=self.database.jvm,
                class_path=self._class_path(site),
            ),
            "logback.xml": configuration.logback(),
        }
        for name, text in contents.items():
            (site.conf_on_host / name).write_text(text, encoding="utf-8")
        if site.data_on_host is not None:
            (site.data_on_host / configuration.TEMPORARY).mkdir(exist_ok=True)

    def _class_path(self, site: Site) -> list[str]:
        """With an archive: its class path, then the configuration, which is not part of it."""
        if self.classes is None:
            return self.installation.class_path(site.conf)
        (site.conf_on_host / class_archive.JARS).symlink_to(self.installation.lib)
        return [*class_archive.class_path(self.installation.jars), site.conf]

    def _launch(self, site: Site) -> None:
        command = configuration.command(
            java=self.installation.java,
            lib=self.installation.lib,
            jamm=self.installation.jamm,
            site=site,
            archive=class_archive.NAME if self.classes else "",
            record=self.record_classes,
        )
        shown = {class_archive.NAME: self.classes.file} if self.classes else {}
        ports = (configuration.NATIVE_PORT, configuration.STORAGE_PORT)
        self.launch(site, command, self.installation.bits, ports, self.LOG, shown)

    def _await_port(self, node: Running) -> None:
        def ask() -> str:
            try:
                with socket.create_connection(node.unit.site.door(self.PORT), 1.0) as connection:
                    return "" if _speaks_cql(connection) else "what answers does not speak CQL"
            except OSError as error:
                return f"it is still starting, or cannot be reached from here: {error}"

        self.await_node(node, START_TIMEOUT_S, f"no answer on port {self.PORT}", ask)

    def _await_ready(self) -> None:
        """Every coordinator writes at ALL over all nodes: it must see each of them up."""
        for index, node in enumerate(self.nodes):
            ask = partial(self._ready_fault, index, node)
            self.await_node(node, READY_TIMEOUT_S, "the cluster is not ready", ask)

    def _ready_fault(self, index: int, node: Running) -> str:
        """Empty when the node coordinates a write over all nodes and one at the study's level."""
        level = self.database.consistency.write
        with self.session(node) as session:
            if index == 0:
                self._make_ready_tables(session)
            session.execute(f"INSERT INTO tare_all.ready (id) VALUES ({index})", "ALL")
            session.execute(f"INSERT INTO tare_study.ready (id) VALUES ({index})", level)
        return ""

    def _make_ready_tables(self, session: Session) -> None:
        factors = {"tare_all": len(self.nodes), "tare_study": self.database.replication_factor}
        for keyspace, factor in factors.items():
            session.execute(schema.create_keyspace(keyspace, factor))
            session.execute(f"CREATE TABLE IF NOT EXISTS {keyspace}.ready (id int PRIMARY KEY)")

    def session(self, node: Running | None = None) -> AbstractContextManager[Session]:
        """A context manager: a CQL session through one node, the first by default."""
        chosen = node or self.nodes[0]
        return connect(*chosen.unit.site.door(configuration.NATIVE_PORT))

    @property
    def url(self) -> None:
        """CQL has no connection strings."""

    @property
    def memory(self) -> tuple[str, str]:
        """The heap, as the parity check compares it."""
        return "heap", f"{self.database.heap // (1 << 20)} MiB"

    def create_schema(self) -> None:
        """The keyspace and tables that the load uses."""
        table = schema.table_of(self.load)
        compaction = self.database.compaction
        with self.session() as session:
            session.execute(schema.create_keyspace(self.keyspace, self.database.replication_factor))
            if table is not None:
                session.execute(schema.create_table(table, compaction.strategy, compaction.options))
            elif self.load.statements is not None:
                session.execute(f"USE {self.keyspace}")
                for text in self.load.statements.tables:
                    session.execute(text)

    def truncate(self) -> None:
        with self.session() as session:
            for name in self._tables(session):
                session.execute(f'TRUNCATE TABLE {self.keyspace}."{name}"', "ALL")

    def _tables(self, session: Session) -> list[str]:
        rows = session.execute(
            f"SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{self.keyspace}'"
        )
        return sorted(row.table_name for row in rows)

    def drop(self) -> None:
        """Drop the keyspace and make it anew."""
        with self.session() as session:
            session.execute(f"DROP KEYSPACE IF EXISTS {self.keyspace}")
        self.create_schema()

    def describe(self) -> dict[str, Any]:
        """The cluster's own description: version, peers, effective settings, schema."""
        with self.session() as session:
            (local,) = session.execute(
                "SELECT release_version, cluster_name, native_protocol_version, partitioner "
                "FROM system.local"
            )
            peers = session.execute("SELECT peer, release_version FROM system.peers")
            settings = session.execute("SELECT name, value FROM system_views.settings")
            tables = session.execute(
                "SELECT compaction, compression, caching FROM system_schema.tables "
                f"WHERE keyspace_name = '{self.keyspace}'"
            )
        return {
            "kind": "cassandra",
            "version": local.release_version,
            "nodes": 1 + len(peers),
            "partitioner": local.partitioner,
            "protocol": local.native_protocol_version,
            "table": _columns(tables[0]._asdict()) if tables else {},
            "settings": {row.name: str(row.value) for row in settings if row.value is not None},
        }


def _speaks_cql(connection: socket.socket) -> bool:
    """Whether an OPTIONS request is answered: a port that NAT or a proxy opens early is not."""
    connection.settimeout(2.0)
    connection.sendall(bytes([4, 0, 0, 0, 5, 0, 0, 0, 0]))  # protocol v4, opcode 5 OPTIONS
    answer = connection.recv(9)
    return len(answer) >= 5 and answer[0] & 0x80 != 0


def _columns(value: Mapping[str, Any]) -> dict[str, Any]:
    return {k: dict(v) if hasattr(v, "items") else v for k, v in value.items()}
