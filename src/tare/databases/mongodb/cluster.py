"""One replica set: formed from units, waited for, described, reset, taken down."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tare.databases.mongodb import configuration, description, replica_set
from tare.databases.mongodb.installation import (
    Installation,
    refuse_other_release,
    refuse_stand_in,
    stand_in,
)
from tare.databases.mongodb.replica_set import Member
from tare.databases.mongodb.session import RefusedError, Session, connect
from tare.databases.mongodb.wired_tiger import given_cache
from tare.databases.nodes import Nodes
from tare.errors import ClusterError
from tare.runtimes.registry import BARE
from tare.runtimes.unit import Running, Site

START_TIMEOUT_S = 120.0
"""longest wait for one member to answer"""
READY_TIMEOUT_S = 90.0
"""longest wait for a primary and all secondaries; an election takes some 10 s at most"""
_ALREADY_INITIALISED = 23
"""server error AlreadyInitialized"""
_NAMESPACE_NOT_FOUND = 26


@dataclass
class MongoCluster(Nodes):
    """The units of one replica set; `deploy` starts it, `destroy` removes all of it."""

    installation: Installation
    host_memory: int
    """memory of the machine, bytes: a member without a limit may use all of it"""
    client: str = field(default=BARE, kw_only=True)
    """the runtime of the load: it decides which of an orchestrator's addresses members have"""
    session_to: Callable[[str, int], AbstractContextManager[Session]] = field(
        default=connect, kw_only=True
    )

    PORT = configuration.PORT
    LOG = configuration.LOG

    def begin(self) -> None:
        """Start every member; all are configured before the first starts: a runtime may need it.

        Raises:
            RuntimeUnavailableError: the runtime could not start a unit.
        """
        sites = list(self.sites())
        for site in sites:
            self._configure(site)
        for site in sites:
            self._launch(site)

    def deploy(self) -> None:
        """Start every member, make them a set, wait until one is primary and all others follow.

        Raises:
            ClusterError: a member died or did not come up in time, or the set did not form.
            StudyError: another server answers than MongoDB, unasked; or another release.
            RuntimeUnavailableError: the runtime could not start a unit.
        """
        if not self.nodes:
            self.begin()
        for node in self.nodes:
            self._await_answer(node)
        with self.session() as session:
            build = session.command({"buildInfo": 1})
        refuse_stand_in(stand_in(build), forced=self.database.stand_in)
        if stand_in(build) is None:
            refuse_other_release(self.database.version, build)
        if self.installation.knows_sets:
            self._initiate()
            self._await_set()
        self._await_write()
        if self.snapshot is None:
            self.create_collection()

    def _configure(self, site: Site) -> None:
        if self.installation.stands_in:
            return
        document = configuration.mongod_conf(
            site=site,
            set_name=self.name,
            memory=self.platform.limits.memory or self.host_memory,
            settings=self.database.settings,
        )
        text = configuration.yaml_text(document)
        (site.conf_on_host / "mongod.conf").write_text(text, encoding="utf-8")

    def _launch(self, site: Site) -> None:
        stands_in, command = self.installation.stands_in, self.installation.command(site)
        log = "" if stands_in else self.LOG
        self.launch(site, command, self.installation.bits, (self.PORT,), log)

    def _await_answer(self, node: Running) -> None:
        def ask() -> str:
            with self.session(node) as session:
                session.command({"ping": 1})  # every release knows it
            return ""

        self.await_node(node, START_TIMEOUT_S, "no answer", ask)

    def _initiate(self) -> None:
        with self.session() as session:
            try:
                document = replica_set.initiation(self.name, self.hosts)
                session.command({"replSetInitiate": document})
            except RefusedError as error:
                if error.code != _ALREADY_INITIALISED:
                    raise

    def _await_set(self) -> None:
        def ask() -> str:
            return replica_set.missing(self.members(), self.hosts)

        self.await_node(self.nodes[0], READY_TIMEOUT_S, "the replica set is not ready", ask)

    def _await_write(self) -> None:
        """Wait for a write that every member acknowledges, and one with the study's concern."""
        everywhere = len(self.nodes)
        concerns = [everywhere, self.database.write_concern or 1]

        def ask() -> str:
            node = self.primary()
            with self.session(node) as session:
                for number, concern in enumerate(concerns):
                    session.command(
                        {
                            "update": "ready",
                            "updates": [
                                {"q": {"_id": number}, "u": {"_id": number}, "upsert": True}
                            ],
                            "writeConcern": {"w": concern, "wtimeout": 5000},
                        },
                        "tare",
                    )
            return ""

        self.await_node(self.nodes[0], READY_TIMEOUT_S, "no write is acknowledged", ask)

    @property
    def hosts(self) -> list[str]:
        """host:port of every member in the set, for members and for clients.

        Clients go where members say they are, so packets between members pass the endpoint too.
        """
        return self.targets(self.client)

    @property
    def url(self) -> str:
        """The connection string of the load, with the study's concerns."""
        options: dict[str, str] = {}
        if self.installation.knows_sets:
            options["replicaSet"] = self.name
        if self.database.write_concern is not None:
            options["w"] = str(self.database.write_concern)
        if self.database.journal is not None:
            options["journal"] = str(self.database.journal).lower()
        if self.database.read_preference is not None:
            options["readPreference"] = self.database.read_preference
        query = f"?{urlencode(options)}" if options else ""
        return f"mongodb://{','.join(self.hosts)}/{self.keyspace}{query}"

    def reached(self, client: str, endpoint: str) -> dict[str, str]:
        """Members know each other by the network's usual endpoint, and tell clients that one."""
        if not endpoint:
            return {}
        return dict(zip(self.hosts, self.targets(client, endpoint), strict=True))

    @property
    def memory(self) -> tuple[str, str]:
        """WiredTiger's cache, as the parity check compares it."""
        memory = self.platform.limits.memory or self.host_memory
        size = given_cache(memory, self.database.settings)
        return "cache", f"{size // (1 << 20)} MiB"

    def session(self, node: Running | None = None) -> AbstractContextManager[Session]:
        """A context manager: a connection to one member, the first by default."""
        chosen = node or self.nodes[0]
        return self.session_to(*chosen.unit.site.door(configuration.PORT))

    def members(self) -> list[Member]:
        """The set's members as the first one sees them; none if the server knows no sets."""
        if not self.installation.knows_sets:
            return []
        with self.session() as session:
            return replica_set.members(session.command({"replSetGetStatus": 1}))

    def primary(self) -> Running:
        """The member that takes writes.

        Raises:
            ClusterError: there is no primary now.
        """
        if not self.installation.knows_sets:
            return self.nodes[0]
        first = replica_set.primary(self.members())
        for node, host in zip(self.nodes, self.hosts, strict=True):
            if first is not None and host == first.host:
                return node
        raise ClusterError("the replica set has no primary", where=self.name)

    @property
    def _collection(self) -> str:
        return self.load.table.partition(".")[2]

    def create_collection(self) -> None:
        """The empty collection that the load uses."""
        with self.session(self.primary()) as session:
            session.command({"create": self._collection}, self.keyspace)

    def truncate(self) -> None:
        """Drop the collection and make it anew: removing documents would not free their space."""
        with self.session(self.primary()) as session:
            try:
                session.command({"drop": self._collection}, self.keyspace)
            except RefusedError as error:  # MongoDB 7.0 drops what is not there; others say no
                if error.code != _NAMESPACE_NOT_FOUND:
                    raise
        self.create_collection()

    def drop(self) -> None:
        """Drop the database and make its collection anew."""
        with self.session(self.primary()) as session:
            session.command({"dropDatabase": 1}, self.keyspace)
        self.create_collection()

    def describe(self) -> dict[str, Any]:
        """The set's own description: version, members, effective settings."""
        with self.session() as session:
            return description.describe(session, self.members(), len(self.nodes))

    def resume(self) -> None:
        """Continue, then wait for a primary that all follow: members have missed heartbeats."""
        super().resume()
        if self.installation.knows_sets:
            self._await_set()
            self._await_write()
