"""One replica set: formed from units, waited for, described, reset, taken down."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tare.databases.mongodb import configuration, description, replica_set
from tare.databases.mongodb.installation import Installation, refuse_stand_in, stand_in
from tare.databases.mongodb.replica_set import Member
from tare.databases.mongodb.session import RefusedError, Session, connect
from tare.errors import ClusterError, TareError
from tare.runtimes.unit import Running, Runtime, Site, Unit
from tare.study.load import Load
from tare.study.schema import Database, Platform
from tare.study.wired_tiger import given_cache

START_TIMEOUT_S = 120.0
"""longest wait for one member to answer"""
READY_TIMEOUT_S = 90.0
"""longest wait for a primary and all secondaries; an election takes some 10 s at most"""
_POLL_S = 0.1
_ALREADY_INITIALISED = 23
"""server error AlreadyInitialized"""


@dataclass
class MongoCluster:
    """The units of one replica set; `deploy` brings it up, `destroy` leaves nothing of it."""

    name: str
    """unique within the run; also the set's name and the units' name prefix"""
    database: Database
    platform: Platform
    load: Load
    runtime: Runtime
    installation: Installation
    host_memory: int
    """memory of the machine, bytes: what a member may use that has no limit"""
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep
    session_to: Callable[[str, int], AbstractContextManager[Session]] = connect
    nodes: list[Running] = field(default_factory=list)

    def deploy(self) -> None:
        """Start every member, make them a set, wait until one is primary and all others follow.

        Raises:
            ClusterError: a member died or did not come up in time, or the set did not form.
            StudyError: what answers is not MongoDB, and was not asked for.
            RuntimeUnavailableError: the runtime could not start a unit.
        """
        for index in range(self.database.nodes):
            site = self.runtime.site(
                f"{self.name}-n{index + 1}",
                role="database",
                network=self.platform.network,
                storage=self.platform.storage,
                group=self.name,
            )
            self._launch(site)
        for node in self.nodes:
            self._await_answer(node)
        with self.session() as session:
            found = stand_in(session.command({"buildInfo": 1}))
        refuse_stand_in(found, forced=self.database.stand_in)
        if not self.installation.stands_in:
            self._initiate()
            self._await_set()
        self._await_write()
        self.create_collection()

    def _launch(self, site: Site) -> None:
        if not self.installation.stands_in:
            document = configuration.mongod_conf(
                site=site,
                set_name=self.name,
                memory=self.platform.limits.memory or self.host_memory,
                settings=self.database.settings,
            )
            text = configuration.yaml_text(document)
            (site.conf_on_host / "mongod.conf").write_text(text, encoding="utf-8")
        unit = Unit(
            site=site,
            role="database",
            command=self.installation.command(site),
            environment={},
            limits=self.platform.limits,
            bits=self.installation.bits,
            storage=self.platform.storage,
            ports=(configuration.PORT,),
            log="" if self.installation.stands_in else configuration.LOG,
            grace_s=0.0,  # members are thrown away
        )
        self.nodes.append(self.runtime.launch(unit))

    def _await(self, what: str, node: Running, seconds: float, ask: Callable[[], str]) -> None:
        """Ask until nothing is missing; `ask` says what is, or raises."""
        deadline = self.clock() + seconds
        while True:
            self.check_alive()
            try:
                fault = ask()
            except ClusterError as error:
                fault = error.why or error.what
            if not fault:
                return
            if self.clock() > deadline:
                raise ClusterError(
                    f"{what} after {seconds:.0f} s",
                    where=node.unit.site.name,
                    why=fault,
                    remedy=f"see its {configuration.LOG} in the failed trial's logs directory",
                )
            self.wait(_POLL_S)

    def _await_answer(self, node: Running) -> None:
        def ask() -> str:
            with self.session(node) as session:
                session.command({"hello": 1})
            return ""

        self._await("no answer", node, START_TIMEOUT_S, ask)

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

        self._await("the replica set is not ready", self.nodes[0], READY_TIMEOUT_S, ask)

    def _await_write(self) -> None:
        """A write that every member acknowledges, and one as the study asks for."""
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

        self._await("no write is acknowledged", self.nodes[0], READY_TIMEOUT_S, ask)

    @property
    def hosts(self) -> list[str]:
        """host:port of every member, as the members reach each other."""
        return [f"{node.unit.site.peers}:{configuration.PORT}" for node in self.nodes]

    def targets(self, client: str = "native") -> list[str]:
        """host:port of every member, as clients of this runtime reach them."""
        inside = client == self.runtime.name
        return [n.unit.site.target(configuration.PORT, inside=inside) for n in self.nodes]

    @property
    def url(self) -> str:
        """The connection string of the load, with the study's concerns."""
        options: dict[str, str] = {}
        if not self.installation.stands_in:
            options["replicaSet"] = self.name
        if self.database.write_concern is not None:
            options["w"] = str(self.database.write_concern)
        if self.database.journal is not None:
            options["journal"] = str(self.database.journal).lower()
        if self.database.read_preference is not None:
            options["readPreference"] = self.database.read_preference
        query = f"?{urlencode(options)}" if options else ""
        return f"mongodb://{','.join(self.targets())}/{self.keyspace}{query}"

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
        """The set's members as the first one sees them; none of a stand-in, which has no set."""
        if self.installation.stands_in:
            return []
        with self.session() as session:
            return replica_set.members(session.command({"replSetGetStatus": 1}))

    def primary(self) -> Running:
        """The member that takes writes.

        Raises:
            ClusterError: there is none now.
        """
        if self.installation.stands_in:
            return self.nodes[0]
        first = replica_set.primary(self.members())
        for node, host in zip(self.nodes, self.hosts, strict=True):
            if first is not None and host == first.host:
                return node
        raise ClusterError("the replica set has no primary", where=self.name)

    @property
    def keyspace(self) -> str:
        """The database of the load's collection."""
        return self.load.table.partition(".")[0]

    @property
    def _collection(self) -> str:
        return self.load.table.partition(".")[2]

    def create_collection(self) -> None:
        """The empty collection that the load uses."""
        with self.session(self.primary()) as session:
            session.command({"create": self._collection}, self.keyspace)

    def truncate(self) -> None:
        """Drop the collection and make it anew: removing its documents would leave their space."""
        with self.session(self.primary()) as session:
            session.command({"drop": self._collection}, self.keyspace)
        self.create_collection()

    def drop(self) -> None:
        """Drop the database and make its collection anew."""
        with self.session(self.primary()) as session:
            session.command({"dropDatabase": 1}, self.keyspace)
        self.create_collection()

    def confine(self, cpuset: str) -> None:
        for node in self.nodes:
            node.confine(cpuset)

    def check_alive(self) -> None:
        """Raise ClusterError if a member has died since it was launched."""
        for node in self.nodes:
            ended = node.exited()
            if ended is not None:
                raise ClusterError(
                    "a member of the replica set died",
                    where=node.unit.site.name,
                    why=ended.detail,
                    remedy=f"see its {configuration.LOG} and stderr.log in the trial's logs",
                )

    def describe(self) -> dict[str, Any]:
        """What the set says of itself: version, members, effective settings."""
        with self.session() as session:
            return description.describe(session, self.members(), len(self.nodes))

    def pause(self) -> None:
        for node in self.nodes:
            node.pause()

    def resume(self) -> None:
        """Continue, and wait for a primary: paused members missed each other's heartbeats."""
        for node in self.nodes:
            node.resume()
        if not self.installation.stands_in:
            self._await_set()

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
