"""A replica set with scripted members, clock and runtime; answers are the manual's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tare.databases.mongodb.cluster import MongoCluster
from tare.databases.mongodb.installation import Installation
from tare.databases.mongodb.session import RefusedError
from tare.errors import ClusterError
from tare.runtimes.unit import Bits, Exit, Site
from tare.study.conditions import expand
from tare.study.schema import Study

GIB = 1 << 30
NOW = 1_700_000_000.0
COMMIT = "ce59cfc6a3c5e5c067dca0d30697edd68d4f5188"
BUILD = {"version": "7.0.14", "gitVersion": COMMIT}
"""Part of a mongod's `buildInfo`."""


def moment(unix: float) -> datetime:
    """A date as the driver returns it: in UTC, without a time zone."""
    return datetime.fromtimestamp(unix, UTC).replace(tzinfo=None)


@dataclass
class Node:
    """A launched member."""

    unit: Any
    ended: Exit | None = None
    calls: list[str] = field(default_factory=list)
    said: str = ""

    def collect_logs(self, into: Path) -> None:
        (into / "stderr.log").write_text(self.said, encoding="utf-8")

    def exited(self) -> Exit | None:
        return self.ended

    def pause(self) -> None:
        self.calls.append("pause")

    def resume(self) -> None:
        self.calls.append("resume")

    def stop(self) -> None:
        self.calls.append("stop")


@dataclass
class Runtime:
    """A runtime that assigns sites to 127.0.0.N and starts no process."""

    root: Path
    name: str = "native"
    launched: list[Node] = field(default_factory=list)
    released: list[str] = field(default_factory=list)
    dies: bool = False
    several: list[bool] = field(default_factory=list)
    """for each site, whether clients name endpoints"""
    settle: Callable[[Site], Site] = lambda site: site
    """changes a site when its unit starts"""
    written: list[list[str]] = field(default_factory=list)
    """at each launch, the configuration files of all units that existed"""

    def site(self, name: str, **wanted: Any) -> Site:
        self.several.append(wanted.get("several", False))
        address = f"127.0.0.{name.rpartition('-n')[2]}"
        conf = self.root / name
        conf.mkdir()
        return Site(
            name=name,
            conf=str(conf),
            conf_on_host=conf,
            data=f"/data/{name}",
            data_on_host=None,
            listen=address,
            peers=address,
            endpoint_host=address,
            path="loopback",
        )

    def launch(self, unit: Any) -> Node:
        self.written.append(
            sorted(str(one.relative_to(self.root)) for one in self.root.glob("*/*"))
        )
        unit = replace(unit, site=self.settle(unit.site))
        node = Node(unit, Exit(1, "exit status 1") if self.dies else None)
        self.launched.append(node)
        return node

    def release_group(self, group: str) -> None:
        self.released.append(group)


@dataclass
class Servers:
    """The members' answers, and a clock that only `wait` advances."""

    now: float = NOW
    asked: list[tuple[str, str]] = field(default_factory=list)
    """(address, command)"""
    silent_until: float = 0.0
    initiated: bool = False
    elected: float = 0.0
    election_s: float = 3.0
    fault: RefusedError | None = None
    refused: dict[str, RefusedError] = field(default_factory=dict)
    """command to the error that it gets"""
    build: dict[str, Any] = field(default_factory=lambda: dict(BUILD))
    status: dict[str, Any] = field(default_factory=dict)
    hosts: list[str] = field(default_factory=list)
    last: dict[str, dict[str, Any]] = field(default_factory=dict)
    """the last document of each command"""

    def clock(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds

    @contextmanager
    def session_to(self, host: str, port: int) -> Iterator[Any]:
        def command(document: dict[str, Any], database: str = "admin") -> dict[str, Any]:
            return self.answer(f"{host}:{port}", document)

        yield SimpleNamespace(command=command, where=f"{host}:{port}")

    def answer(self, address: str, document: dict[str, Any]) -> dict[str, Any]:
        name = next(iter(document))
        self.asked.append((address, name))
        self.last[name] = document
        if self.now < self.silent_until:
            raise ClusterError("no answer", where=address, why="connection refused")
        if self.fault is not None and name != "ping":
            raise self.fault
        if name in self.refused:
            raise self.refused[name]
        if name == "replSetInitiate":
            self.initiated = True
            self.elected = self.now + self.election_s
            self.hosts = [m["host"] for m in document["replSetInitiate"]["members"]]
        answers: dict[str, Callable[[], dict[str, Any]]] = {
            "replSetGetStatus": self.set_status,
            "serverStatus": lambda: self.status,
            "buildInfo": lambda: self.build,
            # MongoDB manual, getDefaultRWConcern, Output (5.0 and newer)
            "getDefaultRWConcern": lambda: {
                "defaultReadConcern": {"level": "local"},
                "defaultWriteConcern": {"w": "majority", "wtimeout": 0},
                "defaultReadConcernSource": "implicit",
                "defaultWriteConcernSource": "implicit",
            },
            "getCmdLineOpts": lambda: {"parsed": {"replication": {"replSetName": "x"}}},
        }
        return {"ok": 1.0, **answers.get(name, dict)()}

    def set_status(self) -> dict[str, Any]:
        if not self.initiated:
            raise RefusedError("no", where="", why="no replset config has been received", code=94)
        ready = self.now >= self.elected
        return {"members": [self._line(n, h, ready) for n, h in enumerate(self.hosts)]}

    def _line(self, number: int, host: str, ready: bool) -> dict[str, Any]:
        first = number == min(1, len(self.hosts) - 1)
        state = ("PRIMARY" if first else "SECONDARY") if ready else "STARTUP2"
        line = {"name": host, "health": 1.0, "stateStr": state, "optimeDate": moment(self.now)}
        return line | ({"electionDate": moment(self.elected)} if state == "PRIMARY" else {})


def cluster(
    root: Path, servers: Servers, *, kind: Any = "mongod", client: str = "native", **database: Any
) -> tuple[MongoCluster, Runtime]:
    """A replica set, of three members by default, with a limit of 2 GiB each."""
    nodes = database.pop("nodes", 3)
    study = Study.model_validate(
        {
            "study": "set",
            "database": {
                "kind": "mongodb",
                "version": "7.0.14",
                "nodes": nodes,
                "replication_factor": nodes,
                **database,
            },
            "platform": {"limits": {"memory": 2 * GIB}},
            "load": {"workload": "ycsb-a"},
            "factors": {"client": {"one": {}, "two": {"client": {"runtime": "docker"}}}},
            "baseline": {"client": "one"},
        }
    )
    setup = expand(study)[0].setup
    runtime = Runtime(root)
    made = MongoCluster(
        name="d1-k1",
        database=setup.database,
        platform=setup.platform,
        load=setup.load,
        runtime=runtime,  # type: ignore[arg-type]
        installation=Installation("/opt/mongod", Bits("digest"), kind),
        host_memory=64 * GIB,
        client=client,
        clock=servers.clock,
        wait=servers.wait,
        session_to=servers.session_to,
    )
    return made, runtime
