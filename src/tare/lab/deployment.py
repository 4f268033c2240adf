"""One deployment: the clusters of one condition, populated and warmed, paused and continued."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tare.all_steps import faults_of
from tare.artifacts.class_archive import ClassArchive
from tare.artifacts.snapshot import Snapshot
from tare.databases.cluster import Cluster, Watch
from tare.databases.declaration import NewCluster
from tare.databases.registry import declared
from tare.errors import LoadError, RuntimeUnavailableError, TareError, UnitGoneError
from tare.lab.client_logs import ClientLogs
from tare.lab.progress import Progress, Watcher
from tare.lab.run_resources import RunResources
from tare.lab.warm_up import warm_up_record
from tare.load.client import LoadClient, await_better_reason, progress, result_of
from tare.load.flatness import Calm, Warmth
from tare.load.specification import Phase, specification
from tare.monitor.jit import compiler_seconds
from tare.records.manifest import WarmUp
from tare.runtimes.key import runtime_key
from tare.study.schema import Platform, Setup, Warm

_INSERTS_APART = 2**32
"""between the first rows of two loads on one table: more rows than either inserts"""


class Deployment:
    """The life of the clusters that serve one condition, or several that share them."""

    def __init__(
        self,
        identity: str,
        kinds: Sequence[Setup],
        rule: Warm,
        resources: RunResources,
        watcher: Watcher,
        clock: Callable[[], float] = time.monotonic,
        endpoints: Sequence[str] = (),
    ) -> None:
        """Nothing is started yet.

        Args:
            identity: unique within the run, e.g. D1-docker-host-1.
            kinds: setups of conditions that it serves, one for each kind of load; the first one's
                clusters are used.
            rule: how it is warmed up, and on which CPUs until then.
            resources: the run's runtimes and files.
            watcher: told what happens.
            clock: monotonic seconds.
            endpoints: by which clients reach it; empty: the first setup's endpoint.
        """
        self.identity = identity
        self.setup = setup = kinds[0]
        self._kinds = tuple(kinds)
        self._endpoints = tuple(endpoints) or (setup.platform.endpoint,)
        self.warm_up: WarmUp | None = None
        self.description: dict[str, Any] = {}
        self.paths: dict[str, dict[str, Any]] = {}
        """endpoint to what was seen of the path to it"""
        self._resources = resources
        self._watcher = watcher
        self._rule = rule
        self._clock = clock
        self._begun = False
        self._paused = False
        self._populated = False
        self._loads = itertools.count()
        self._start: dict[str, str] = {}
        self._classes: dict[str, str] = {}
        self._client_logs = ClientLogs()
        platform = _unconfined(setup.platform) if rule.cpus == "all" else setup.platform
        self._database = declared(setup.database.kind)
        self.clusters: list[Cluster] = [
            self._database.cluster(
                NewCluster(
                    f"{identity.lower()}-k{number}",
                    setup,
                    platform,
                    resources.runtimes[runtime_key(setup.platform)],
                    resources.server(setup),
                    resources.machine.memory_bytes,
                )
            )
            for number in range(1, setup.clusters + 1)
        ]

    def begin(self) -> None:
        """Start without waiting; other deployments may start meanwhile.

        Raises:
            RuntimeUnavailableError: packets of the clients would not get there.
        """
        self._begun = True
        platform = self.setup.platform
        for endpoint in self._endpoints:
            self.paths[endpoint] = self._resources.runtimes[runtime_key(platform)].prove(
                platform.model_copy(update={"endpoint": endpoint}),
                self.setup.database.nodes,
                self.clusters[0].PORT,
                sorted({runtime_key(setup.client) for setup in self._kinds}),
            )
        for cluster in self.clusters:
            cluster.begin()

    def deploy(self) -> None:
        """Start the clusters and wait until each is ready.

        Raises:
            RuntimeUnavailableError: packets of the clients would not get there.
            ClusterError: a cluster did not form.
        """
        self._tell("deploying")
        if not self._begun:
            self.begin()
        for cluster in self.clusters:
            cluster.deploy()
        self.description = self.clusters[0].describe() | {"data": self._start}
        if self._classes:
            self.description["classes"] = self._classes

    def start_from(self, snapshot: Snapshot | None, why_not: str) -> None:
        """Start the clusters from a snapshot, or say why they fill their own tables."""
        for cluster in self.clusters:
            cluster.snapshot = snapshot
        self._start = {"filled": why_not}
        if snapshot is not None:
            self._start = {"snapshot": snapshot.digest, "key": snapshot.key}

    def load_from(self, archive: ClassArchive | None, why_not: str) -> None:
        """Have the nodes' JVMs map an archive of their classes, or say why they read their jars."""
        for cluster in self.clusters:
            cluster.load_from(archive)
        self._classes = {"archive": archive.digest} if archive else {"jars": why_not}

    def populate(self, seed: int) -> None:
        """Fill the table of every cluster that did not start from a snapshot.

        Raises:
            LoadError: a client failed, or inserts failed: the data would not be complete.
        """
        if self.clusters[0].snapshot is not None and not self._populated:
            self._populated = True
            return
        self._tell("populating")
        clients = self.clients(self.setup, "populate")
        with self._using(clients):
            for client, cluster in zip(clients, self.clusters, strict=True):
                client.launch(self._specify(client, cluster, "populate", seed))
            self._run_to_end(clients)

    @contextmanager
    def _using(self, clients: list[LoadClient]) -> Iterator[None]:
        try:
            with self._client_logs.kept_on_failure(clients):
                yield
        finally:
            self.discard(clients)

    def _run_to_end(self, clients: list[LoadClient]) -> None:
        results: dict[str, dict[str, Any]] = {}
        for line in progress(clients, self.check_alive):
            if line.event is None:
                outcome = result_of(line.client, results.get(line.client.name))
                if outcome.errors:
                    raise LoadError(
                        f"{outcome.errors} inserts failed while the table was filled",
                        where=self.identity,
                        why=str(outcome.errors_by_kind),
                    )
            elif line.event["event"] == "result":
                results[line.client.name] = line.event
            elif line.event["event"] == "interval":
                self._tell("populating", ops_per_s=line.event["ops_per_s"])

    def warm(self, seed: int) -> None:
        """Let the compiler work under a gentle load, then run the full load until it is flat.

        Both run with each kind of load that is measured here: reads do not compile writes.
        """
        rule = self._rule
        gently = self._kinds if rule.gentle > 0 and self._database.compiles else ()
        calm = [self._warm_gently(one, seed) for one in gently]
        cpuset = self.setup.platform.limits.cpuset
        if rule.cpus == "all" and cpuset is not None:
            for cluster in self.clusters:
                cluster.confine(cpuset)
        full: list[tuple[str, Warmth]] = []
        for one in self._kinds if rule.at_most > 0 else ():
            warmth = Warmth(rule.at_least, rule.at_most, rule.window, rule.bound)
            self._load(one, rule.at_most, seed, warmth)
            full.append((one.load.label, warmth))
        if calm or full:
            self.warm_up = warm_up_record(calm, full)

    def _warm_gently(self, setup: Setup, seed: int) -> Calm:
        """What was seen until the compiler was quiet, or the time was up."""
        rule = self._rule
        load = setup.load.model_copy(update={"threads": rule.gentle_threads})
        calm = Calm(rule.window, len(self.clusters) * setup.database.nodes)
        self._load(setup.model_copy(update={"load": load}), rule.gentle, seed, calm)
        return calm

    def _load(self, setup: Setup, longest_s: float, seed: int, until: Calm | Warmth) -> None:
        """Run a load until `until` is flat or the time is up."""
        clients = self.clients(setup, "warm")
        operations = dict.fromkeys((c.name for c in clients), 0)
        with self._using(clients):
            for client, cluster in zip(clients, self.clusters, strict=True):
                client.launch(self._specify(client, cluster, "warm", seed, longest_s, setup))
            stopping = False
            for line in progress(clients, self.check_alive):
                kind = line.event["event"] if line.event else None
                if line.event is None or kind not in ("ready", "interval"):
                    continue
                operations[line.client.name] += line.event.get("ops", 0)
                if line.client is clients[0]:
                    # a missing reading does no harm here; it would in a trial
                    with suppress(RuntimeUnavailableError):
                        until.reading(
                            self._clock(),
                            sum(operations.values()),
                            self.cpu_seconds(),
                            self.compiler_seconds(),
                        )
                self._tell(
                    "warming",
                    ops_per_s=line.event.get("ops_per_s"),
                    p99_us=line.event.get("p99_us"),
                )
                if until.flat and not stopping:
                    stopping = True
                    for client in clients:
                        if client.running is not None:
                            client.running.terminate()

    def clients(
        self, setup: Setup, purpose: str, *, trial: bool = False, words: tuple[str, ...] = ()
    ) -> list[LoadClient]:
        """Load clients, not yet launched: Tare's own, but in trials the study's.

        There is one for each cluster; in trials, one on every host that shares its load.

        Args:
            words: what Tare's own client does instead of a run.
        """
        installation = self._resources.tool(setup) if trial else self._resources.client(setup)
        shared = trial and setup.client.source.from_inventory
        each = min(self._resources.load_hosts(setup), setup.load.threads) if shared else 1
        if words:
            installation = replace(installation, words=words)
        return [
            LoadClient(
                name=f"c{number}",
                unit_name=f"{self.clusters[index].name}-{purpose}-c{number}".lower(),
                runtime=self._resources.runtimes[runtime_key(setup.client)],
                installation=installation,
                settings=setup.client,
                group=self.clusters[index].name,
                cluster=index,
                part=part,
                of=each,
                netns=self.clusters[index].netns(setup.platform.endpoint),
            )
            for number, (index, part) in enumerate(
                itertools.product(range(len(self.clusters)), range(each)), start=1
            )
        ]

    def searcher(self, setup: Setup, words: tuple[str, ...]) -> LoadClient:
        """A client that searches the first cluster's maximum, not yet launched."""
        (client, *_) = self.clients(setup, "search", words=words)
        return client

    def launch_search(self, client: LoadClient, setup: Setup, seed: int) -> None:
        """Begin the search; the other clusters have nothing to do meanwhile."""
        made = self._specify(client, self.clusters[0], "measure", seed, setup=setup)
        client.launch(made | {"hlog": None})

    def inserted_before(self) -> int:
        """Offset of the next load's inserts on the same table.

        No load inserts again what a warm-up or another condition inserted.
        """
        return next(self._loads) * _INSERTS_APART

    def discard(self, clients: list[LoadClient]) -> None:
        """Stop clients and remove their working directories."""
        for client in clients:
            client.discard()

    def _specify(
        self,
        client: LoadClient,
        cluster: Cluster,
        phase: Phase,
        seed: int,
        longest: float = 0,
        setup: Setup | None = None,
    ) -> dict[str, Any]:
        setup = setup or self.setup
        runtime, endpoint = runtime_key(setup.client), setup.platform.endpoint
        return specification(
            setup,
            name=f"{self.identity}-{phase}",
            client=client.name,
            targets=cluster.targets(runtime, endpoint),
            mongodb=cluster.url,
            reached=cluster.reached(runtime, endpoint),
            phase=phase,
            seed=seed,
            longest_s=longest,
            inserted_before=self.inserted_before(),
        )

    def engine_processes(self, setup: Setup) -> tuple[str, ...]:
        """Names of processes that work for servers and clients outside of their control groups."""
        runtimes = (runtime_key(setup.platform), runtime_key(setup.client))
        found = (p for name in runtimes for p in self._resources.runtimes[name].engine_processes)
        return tuple(dict.fromkeys(found))

    def watch(self, wall: Callable[[], float]) -> Watch:
        """What watches all nodes; `wall` gives Unix time, seconds."""
        return self._database.watch(self.clusters, wall)

    def cpu_seconds(self) -> float:
        """CPU seconds that all database units have used since they began.

        Raises:
            ClusterError: a node has died; or UnitGoneError, if the cause is unknown.
        """
        try:
            return sum(n.accounting().cpu_seconds() for c in self.clusters for n in c.nodes)
        except UnitGoneError:
            await_better_reason(self.check_alive)
            raise

    def compiler_seconds(self) -> float | None:
        """CPU seconds of all nodes' JIT compilers; None where a node shows none."""
        nodes = [n for c in self.clusters for n in c.nodes]
        used = [compiler_seconds(a.pid, machine=a.machine) for a in (n.accounting() for n in nodes)]
        return None if None in used else sum(u for u in used if u is not None)

    def check_alive(self) -> None:
        """Raise ClusterError if a database node has died."""
        for cluster in self.clusters:
            cluster.check_alive()

    def reset(self, how: str, seed: int) -> None:
        """Bring the data into the declared state: truncate, drop (both repopulate) or keep."""
        if how == "keep":
            return
        for cluster in self.clusters:
            if how == "truncate":
                cluster.truncate()
            else:
                cluster.drop()
        self.populate(seed)

    def pause(self) -> None:
        if not self._paused:
            for cluster in self.clusters:
                cluster.pause()
            self._paused = True

    def resume(self) -> None:
        if self._paused:
            for cluster in self.clusters:
                cluster.resume()
            self._paused = False

    def collect_logs(self, into: Path) -> None:
        for cluster in self.clusters:
            cluster.collect_logs(into)
        self._client_logs.write(into)

    def destroy(self) -> list[TareError]:
        """Take everything down; what went wrong with that is returned, not raised."""
        releases = [one.release_group for one in self._resources.runtimes.values()]
        steps: list[Callable[[], object]] = []
        for cluster in self.clusters:
            steps += [cluster.destroy, *(partial(one, cluster.name) for one in releases)]
        return faults_of(steps)

    def _tell(
        self, phase: str, *, ops_per_s: float | None = None, p99_us: float | None = None
    ) -> None:
        self._watcher.update(
            Progress(phase, subject=self.identity, ops_per_s=ops_per_s, p99_us=p99_us)
        )


def _unconfined(platform: Platform) -> Platform:
    limits = platform.limits.model_copy(update={"cpuset": None})
    return platform.model_copy(update={"limits": limits})
