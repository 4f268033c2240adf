"""The nodes of one cluster, with what is common to all databases."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from tare import scratch
from tare.all_steps import faults_of, raise_first
from tare.artifacts.class_archive import ClassArchive
from tare.artifacts.snapshot import Snapshot
from tare.errors import ClusterError, TareError
from tare.runtimes.registry import BARE
from tare.runtimes.unit import Bits, Running, Runtime, Site, Unit
from tare.study.load import Load
from tare.study.schema import Database, Platform

_POLL_S = 0.1
_NOTHING: Mapping[str, Path] = MappingProxyType({})
_SIGNALLED = 128
"""Exit statuses from here on are a signal's; a server itself writes nothing about it."""
_SHOWN = 300
_KEPT = "the failed trial, or of the deployment (below deployments/ of the run)"


@dataclass
class Nodes:
    """The units of one cluster, from their start to their end."""

    name: str
    """unique within the run; also the cluster's own name and the units' name prefix"""
    database: Database
    platform: Platform
    load: Load
    runtime: Runtime
    clock: Callable[[], float] = field(default=time.monotonic, kw_only=True)
    wait: Callable[[float], None] = field(default=time.sleep, kw_only=True)
    nodes: list[Running] = field(default_factory=list, kw_only=True)
    snapshot: Snapshot | None = field(default=None, kw_only=True)
    """what the nodes' data directories hold when they start; None: nothing"""

    PORT: ClassVar[int]
    """where clients find a node"""
    LOG: ClassVar[str]
    """the server's own log file, within its data directory"""

    def load_from(self, archive: ClassArchive | None) -> None:
        """Nodes have no JVM unless their database says so."""

    def sites(self) -> Iterator[Site]:
        """A site for each node, one after another: a runtime may settle them as they start."""
        for index in range(self.database.nodes):
            yield self.runtime.site(
                f"{self.name}-n{index + 1}",
                role="database",
                network=self.platform.network,
                storage=self.platform.storage,
                group=self.name,
                several=bool(self.platform.endpoint),
            )

    def launch(
        self,
        site: Site,
        command: list[str],
        bits: Bits,
        ports: tuple[int, ...],
        log: str,
        shown: Mapping[str, Path] = _NOTHING,
    ) -> None:
        """Start a node with the study's limits, storage and placement."""
        unit = Unit(
            site=site,
            role="database",
            command=command,
            environment={},
            limits=self.platform.limits,
            bits=bits,
            storage=self.platform.storage,
            placement=self.platform.placement,
            ports=ports,
            log=log,
            snapshot=self.snapshot.nodes[len(self.nodes)] if self.snapshot else None,
            shown=shown,
            grace_s=0.0,  # nodes are discarded, and a drain takes time
        )
        self.nodes.append(self.runtime.launch(unit))

    def await_node(self, node: Running, seconds: float, what: str, ask: Callable[[], str]) -> None:
        """Ask until nothing is missing.

        Args:
            node: the node to wait for; no node may die meanwhile.
            seconds: the longest wait, on a machine that is not emulated.
            what: what has failed when the time is over.
            ask: says what is missing, or raises; empty: nothing.

        Raises:
            ClusterError: a node died, or the time is over; `why` says what was missing last.
        """
        seconds *= node.unit.site.patience
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
                    remedy=f"see its {self._log_name} in logs/ of {_KEPT}",
                )
            self.wait(_POLL_S)

    @property
    def _log_name(self) -> str:
        return Path(self.LOG).name

    def targets(self, client: str = BARE, endpoint: str = "") -> list[str]:
        """host:port of every node, as clients of this runtime reach them.

        Args:
            endpoint: the endpoint that the clients use; empty: the network's usual one.

        Raises:
            RuntimeUnavailableError: a node does not have this endpoint here.
        """
        inside = client == self.runtime.name
        sites = [node.unit.site for node in self.nodes]
        return [one.target(self.PORT, inside=inside, endpoint=endpoint) for one in sites]

    def reached(self, client: str, endpoint: str) -> dict[str, str]:
        """Address that nodes give to clients to host:port where they reach it; empty: the same."""
        return {}

    def netns(self, endpoint: str) -> str:
        """Path of the network namespace in which clients of this endpoint run; empty: any."""
        for node in self.nodes:
            if endpoint and node.unit.site.way(endpoint).inside:
                return f"/proc/{node.accounting().pid}/ns/net"
        return ""

    @property
    def keyspace(self) -> str:
        """Name of the keyspace, or database, of the load's tables."""
        return self.load.table.partition(".")[0]

    def confine(self, cpuset: str) -> None:
        for node in self.nodes:
            node.confine(cpuset)

    def check_alive(self) -> None:
        """Raise ClusterError if a node has died since it was launched."""
        for node in self.nodes:
            ended = node.exited()
            if ended is not None:
                said = _last_words(node) if 0 < ended.status < _SIGNALLED else ""
                raise ClusterError(
                    "a database node died",
                    where=node.unit.site.name,
                    why=ended.detail if said in ended.detail else f"{ended.detail}: {said}",
                    remedy=f"see its {self._log_name} and stderr.log in logs/ of {_KEPT}",
                )

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
        faults = faults_of(node.stop for node in self.nodes)
        self.nodes = []
        self.runtime.release_group(self.name)
        raise_first(faults)


def _last_words(node: Running) -> str:
    """The last line that a server wrote to its terminal before its end; empty: unknown."""
    with scratch.directory("logs") as place, contextlib.suppress(TareError, OSError):
        node.collect_logs(Path(place))
        for file in sorted(Path(place).glob("*stderr.log")):
            lines = file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            return lines[-1].strip()[:_SHOWN] if lines else ""
    return ""
