"""One Cassandra cluster: formed from units, waited for, described, reset, taken down."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tare.databases.cassandra import configuration, schema
from tare.databases.cassandra.session import Session, connect
from tare.errors import ClusterError, TareError
from tare.runtimes.unit import Bits, Running, Runtime, Site, Unit
from tare.study.load import Load
from tare.study.schema import Database, Platform

START_TIMEOUT_S = 240.0
"""longest wait for one node; default flags took up to 80 s on two busy cores"""
READY_TIMEOUT_S = 60.0
_POLL_S = 0.1


@dataclass(frozen=True)
class Installation:
    """Where a runtime's units find Cassandra's files."""

    java: str
    lib: str
    jamm: str
    jars: tuple[str, ...]
    """file names in `lib`, in the order of the class path; empty: all, in the JVM's own order"""
    bits: Bits

    def class_path(self, conf: str) -> list[str]:
        """The configuration directory, then the jars."""
        return [conf, *(f"{self.lib}/{jar}" for jar in self.jars or ("*",))]


@dataclass
class CassandraCluster:
    """The units of one cluster; `deploy` brings it up, `destroy` leaves nothing of it."""

    name: str
    """unique within the run; also the Cassandra cluster_name and the units' name prefix"""
    database: Database
    platform: Platform
    load: Load
    runtime: Runtime
    installation: Installation
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep
    nodes: list[Running] = field(default_factory=list)

    def deploy(self) -> None:
        """Start every node, wait until all see each other and a write succeeds, make the schema.

        Raises:
            ClusterError: a node died or did not come up in time; its last log lines are in `why`.
            RuntimeUnavailableError: the runtime could not start a unit.
        """
        sites = [
            self.runtime.site(
                f"{self.name}-n{index + 1}",
                role="database",
                network=self.platform.network,
                storage=self.platform.storage,
                group=self.name,
            )
            for index in range(self.database.nodes)
        ]
        for index, site in enumerate(sites):
            self._configure(site, sites[0].seed or sites[0].peers, index)
        self._launch(sites[0])
        self._await_port(self.nodes[0])
        for site in sites[1:]:
            self._launch(site)
        for node in self.nodes[1:]:
            self._await_port(node)
        self._await_ready()
        self.create_schema()

    def _configure(self, site: Site, seed: str, index: int) -> None:
        """Write a node's files, all nodes' before the first starts: a runtime may need all."""
        document = configuration.cassandra_yaml(
            cluster_name=self.name,
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
                class_path=self.installation.class_path(site.conf),
            ),
            "logback.xml": configuration.logback(),
        }
        for name, text in contents.items():
            (site.conf_on_host / name).write_text(text, encoding="utf-8")
        if site.data_on_host is not None:
            (site.data_on_host / configuration.TEMPORARY).mkdir(exist_ok=True)

    def _launch(self, site: Site) -> None:
        unit = Unit(
            site=site,
            role="database",
            command=configuration.command(
                java=self.installation.java,
                lib=self.installation.lib,
                jamm=self.installation.jamm,
                site=site,
            ),
            environment={},
            limits=self.platform.limits,
            bits=self.installation.bits,
            storage=self.platform.storage,
            placement=self.platform.placement,
            ports=(configuration.NATIVE_PORT, configuration.STORAGE_PORT),
            log=configuration.LOG,
            grace_s=0.0,  # nodes are thrown away, and a drain takes 13 s
        )
        self.nodes.append(self.runtime.launch(unit))

    def _await_port(self, node: Running) -> None:
        site = node.unit.site
        deadline = self.clock() + START_TIMEOUT_S
        while True:
            self._refuse_dead(node)
            try:
                with socket.create_connection(site.door(configuration.NATIVE_PORT), 1.0) as s:
                    if _speaks_cql(s):
                        return
            except OSError:
                pass
            if self.clock() > deadline:
                raise ClusterError(
                    f"no answer on port {configuration.NATIVE_PORT} after {START_TIMEOUT_S:.0f} s",
                    where=site.name,
                    why="the node is still starting, or its address is not reachable from here",
                    remedy="see its system.log in the failed trial's logs directory",
                )
            self.wait(_POLL_S)

    def _refuse_dead(self, node: Running) -> None:
        ended = node.exited()
        if ended is not None:
            raise ClusterError(
                "a database node died",
                where=node.unit.site.name,
                why=ended.detail,
                remedy="see its system.log and stderr.log in the trial's logs directory",
            )

    def _await_ready(self) -> None:
        """Every coordinator writes at ALL over all nodes: it must see each of them up."""
        deadline = self.clock() + READY_TIMEOUT_S
        for index, node in enumerate(self.nodes):
            while (fault := self._ready_fault(index, node)) is not None:
                self._refuse_dead(node)
                if self.clock() > deadline:
                    raise ClusterError(
                        "the cluster did not become ready",
                        where=node.unit.site.name,
                        why=fault.why or fault.what,
                    )
                self.wait(_POLL_S)

    def _ready_fault(self, index: int, node: Running) -> ClusterError | None:
        """None when the node coordinates a write over all nodes and one at the study's level."""
        level = self.database.consistency.write
        try:
            with self.session(node) as session:
                if index == 0:
                    self._make_ready_tables(session)
                session.execute(f"INSERT INTO tare_all.ready (id) VALUES ({index})", "ALL")
                session.execute(f"INSERT INTO tare_study.ready (id) VALUES ({index})", level)
        except ClusterError as error:
            return error
        return None

    def _make_ready_tables(self, session: Session) -> None:
        factors = {"tare_all": len(self.nodes), "tare_study": self.database.replication_factor}
        for keyspace, factor in factors.items():
            session.execute(schema.create_keyspace(keyspace, factor))
            session.execute(f"CREATE TABLE IF NOT EXISTS {keyspace}.ready (id int PRIMARY KEY)")

    def session(self, node: Running | None = None) -> AbstractContextManager[Session]:
        """A context manager: a CQL session through one node, the first by default."""
        chosen = node or self.nodes[0]
        return connect(*chosen.unit.site.door(configuration.NATIVE_PORT))

    def targets(self, client: str = "native") -> list[str]:
        """host:port of every node, as clients of this runtime reach them."""
        inside = client == self.runtime.name
        return [n.unit.site.target(configuration.NATIVE_PORT, inside=inside) for n in self.nodes]

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

    @property
    def keyspace(self) -> str:
        """The keyspace of the load's tables."""
        return self.load.table.partition(".")[0]

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

    def confine(self, cpuset: str) -> None:
        for node in self.nodes:
            node.confine(cpuset)

    def check_alive(self) -> None:
        """Raise ClusterError if a node has died since it was launched."""
        for node in self.nodes:
            self._refuse_dead(node)

    def describe(self) -> dict[str, Any]:
        """What the cluster says of itself: version, peers, effective settings, schema."""
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
            "table": _plain(tables[0]._asdict()) if tables else {},
            "settings": {row.name: str(row.value) for row in settings if row.value is not None},
        }

    def pause(self) -> None:
        for node in self.nodes:
            node.pause()

    def resume(self) -> None:
        for node in self.nodes:
            node.resume()

    def collect_logs(self, into: Path) -> None:
        for node in self.nodes:
            node.collect_logs(into)

    def destroy(self) -> None:
        """Stop every unit and remove what was made for it; safe to call at any time, and twice."""
        faults: list[TareError] = []
        for node in self.nodes:
            try:
                node.stop()
            except TareError as error:
                faults.append(error)
        self.nodes = []
        self.runtime.release_group(self.name)
        if faults:
            raise faults[0]


def _speaks_cql(connection: socket.socket) -> bool:
    """Whether an OPTIONS request is answered: a port that NAT or a proxy opens early is not."""
    connection.settimeout(2.0)
    connection.sendall(bytes([4, 0, 0, 0, 5, 0, 0, 0, 0]))  # protocol v4, opcode 5 OPTIONS
    answer = connection.recv(9)
    return len(answer) >= 5 and answer[0] & 0x80 != 0


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    return {k: dict(v) if hasattr(v, "items") else v for k, v in value.items()}
