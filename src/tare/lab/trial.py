"""One trial: reset, drive, watch, and write the record aside until it is complete."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from tare.databases.cluster import Watch
from tare.errors import TrialFailedError
from tare.lab.deployment import Deployment
from tare.lab.progress import Progress, Watcher
from tare.lab.unit_records import unit_record
from tare.lab.usage import Usage, grown, machines_of, one_kernel, read_usage
from tare.load.client import LoadClient, progress, result_of
from tare.load.share import share_of
from tare.load.specification import specification
from tare.machines import page_cache
from tare.machines.cgroups import Accounting
from tare.machines.clocks import refuse_unsure
from tare.machines.facts import MachineFacts
from tare.machines.machine import HERE, Here
from tare.monitor.parity import parity_facts
from tare.monitor.probe import probe_cpu_seconds, write_samples
from tare.monitor.probes import Probes
from tare.records.events import write_events
from tare.records.layout import TrialFiles
from tare.records.manifest import ClientResult, Slices, TrialManifest, UnitRecord, unmeasured
from tare.runtimes.key import runtime_key
from tare.runtimes.unit import Running
from tare.study.conditions import Condition
from tare.study.plan import PlannedTrial
from tare.study.schema import Design

_GRACE_S = 60.0
"""how much longer than declared a trial's load may take before the trial is given up"""

_KEYS_APART = 1_000_000
"""between the seeds of two sequences of keys: more than blocks and clients have"""


@dataclass(frozen=True)
class TrialMeasured:
    """What was measured of a trial, from its clients' results to the CPU time of the machines.

    Attributes:
        servers_s, engine_s, machine_s: CPU seconds over the measured part.
        compiler_s: of the servers' JIT compilers; None: not seen.
        background_s: the part of `machine_s` that the operations did not cause.
        server: the growth of the database's own counters.
    """

    results: list[ClientResult]
    servers_s: float
    compiler_s: float | None
    engine_s: float
    machine_s: float
    modes_s: dict[str, float]
    probe_s: float
    background_s: float
    server: dict[str, float]
    slices: Slices | None = None
    notes: list[str] = field(default_factory=list)


@dataclass
class TrialRun:
    """Does one trial."""

    run: str
    trial: PlannedTrial
    condition: Condition
    deployment: Deployment
    design: Design
    machine_facts: MachineFacts
    attempt: int
    watcher: Watcher
    started: str = ""
    note: str = ""
    """origin of the load's numbers, where they were searched"""
    keys: int = 0
    """number of the sequence of keys; 0: that of the block's first condition on every server"""
    report: Callable[[Progress], Progress] = lambda p: p
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time

    def perform(self, aside: Path) -> TrialManifest:
        """Do the trial; its files are written into `aside`, which the caller renames.

        Raises:
            TareError: the trial failed; whatever was written stays in `aside`.
        """
        self.begin()
        self.deployment.reset(self.design.reset, self.seed)
        dropped = self._drop_caches() if self.design.drop_caches else None
        clients = self.make_clients()
        engine = self.deployment.engine_processes(self.condition.setup)
        watch = self.deployment.watch(self.wall)
        try:
            self._launch(clients)
            watched = self.watched(clients)
            probe = Probes(self.run, watched, engine)
            try:
                results, before, after = self._drive(clients, aside, watch)
                self.deployment.check_alive()  # with replicas, a node's death makes no errors
                see_running({node.unit.site.name: node.accounting() for node in self.nodes()})
                observed = watch.end(*_measured(results))
            finally:
                samples = probe.stop()
            records = self.unit_records(clients)
            for client in clients:
                client.keep_histogram(aside)
        except BaseException:
            self.keep_logs(clients, aside / "logs")
            raise
        finally:
            watch.close()
            self.deployment.discard(clients)
        write_samples(samples, TrialFiles(aside).samples)
        write_events(observed.events, TrialFiles(aside).events)
        watching_s = probe_cpu_seconds(samples)
        measured = TrialMeasured(
            results,
            servers_s=after.servers - before.servers,
            compiler_s=grown(before.compiler, after.compiler),
            engine_s=after.engine - before.engine,
            machine_s=after.machine - before.machine,
            modes_s={m: after.modes[m] - v for m, v in before.modes.items()},
            probe_s=watching_s,
            background_s=watching_s,
            server=observed.counts,
            notes=[*probe.notes, *observed.notes, *one_kernel(machines_of(watched.values()))],
        )
        return self.manifest(measured, records, dropped)

    def begin(self) -> None:
        """Continue the deployment and check that it is alive.

        Raises:
            TareError: it is not.
        """
        self.started = self._now()
        self.deployment.resume()
        self.deployment.check_alive()
        self._read_clocks()

    def make_clients(self) -> list[LoadClient]:
        """The trial's load clients, not yet launched."""
        return self.deployment.clients(self.condition.setup, self.trial.name, trial=True)

    @property
    def seed(self) -> int:
        """The block's seed; the next block has another one."""
        return self.trial.round * 1000 + self.trial.block

    def watched(self, clients: list[LoadClient]) -> dict[str, Accounting]:
        """Where the resources of each participating unit can be read, by its name."""
        found = {unit.unit.site.name: unit.accounting() for unit in self.nodes()}
        return found | {c.name: c.running.accounting() for c in clients if c.running}

    def manifest(
        self, measured: TrialMeasured, records: list[UnitRecord], dropped: bool | None
    ) -> TrialManifest:
        """The record of a trial that was done."""
        measure_start, measure_end = _measured(measured.results)
        return TrialManifest(
            **_planned(self.run, self.trial, self.condition, self.attempt),
            status="done",
            deployment=self.deployment.identity,
            started=self.started,
            ended=self._now(),
            measure_start=measure_start,
            measure_end=measure_end,
            clients=measured.results,
            warm_up=self.deployment.warm_up,
            units=records,
            database=self.deployment.description,
            path=self.deployment.paths.get(self.condition.setup.platform.endpoint, {}),
            caches_dropped=dropped,
            server_cpu_s=measured.servers_s,
            jit_cpu_s=measured.compiler_s,
            engine_cpu_s=measured.engine_s,
            machine_cpu_s=measured.machine_s,
            machine_modes_s=measured.modes_s,
            background_cpu_s=measured.background_s,
            probe_cpu_s=measured.probe_s,
            server=measured.server,
            load_rests_on=self.note,
            slices=measured.slices,
            notes=measured.notes,
        )

    def _read_clocks(self) -> None:
        """Read clocks of the nodes' hosts, which may serve for hours; clients' are read later."""
        nodes = (node for cluster in self.deployment.clusters for node in cluster.nodes)
        for machine in machines_of(node.accounting() for node in nodes):
            if not isinstance(machine, Here):
                machine.read_clock()

    def _launch(self, clients: list[LoadClient]) -> None:
        together = None
        if len(clients) > 1:
            refuse_unsure({c.site.machine or c.name: c.site.clock for c in clients})
            together = self.wall() + max(client.head_start_s for client in clients)
        self.launch(clients, together)

    def launch(self, clients: list[LoadClient], together: float | None, **more: object) -> None:
        """Start the clients.

        Args:
            together: Unix time at which they begin; None: each at once.
            more: further fields of their specifications.
        """
        setup = self.condition.setup
        inserted_before = self.deployment.inserted_before()
        runtime, endpoint = runtime_key(setup.client), setup.platform.endpoint
        for client in clients:
            cluster = self.deployment.clusters[client.cluster]
            made = specification(
                setup,
                name=self.trial.name,
                client=client.name,
                targets=cluster.targets(runtime, endpoint),
                mongodb=cluster.url,
                reached=cluster.reached(runtime, endpoint),
                phase="measure",
                # clients of one cluster share the keys; each draws its own sequence by its name
                seed=self.seed + self.keys * _KEYS_APART + client.cluster,
                hlog=PurePath(client.hlog),
                start_at=None if together is None else together + client.site.clock.ahead_s,
                inserted_before=inserted_before,
            )
            client.launch(share_of(made | more, client.part, client.of))

    def _drive(
        self, clients: list[LoadClient], aside: Path, watch: Watch
    ) -> tuple[list[ClientResult], Usage, Usage]:
        load = self.condition.setup.load
        engine = self.deployment.engine_processes(self.condition.setup)
        units = self.watched(clients)
        machines = machines_of(units.values())
        near = {name: unit for name, unit in units.items() if isinstance(unit.machine, Here)}
        deadline = self.clock() + load.warmup + load.measured_s + load.timeout + _GRACE_S

        def check() -> None:
            self.deployment.check_alive()
            see_running(near)  # units on other hosts once, at the end: a look is a round trip
            if self.clock() > deadline:
                raise TrialFailedError(
                    "the load did not end in time",
                    where=self.trial.name,
                    why=f"{_GRACE_S:.0f} s longer than declared",
                )

        before: Usage | None = None
        after: Usage | None = None
        results: dict[str, ClientResult] = {}
        told: set[str] = set()
        with TrialFiles(aside).progress.open("w", encoding="utf-8") as kept:
            for line in progress(clients, check):
                if line.event is None:
                    if line.client.name not in results:
                        result_of(line.client, None)
                    continue
                kept.write(json.dumps({"client": line.client.name, **line.event}) + "\n")
                kind = line.event["event"]
                if kind == "measure_start" and before is None:
                    before = read_usage(self.deployment, engine, machines)
                    watch.begin()
                elif kind == "measure_end":  # other tools end a while after they measured
                    after = read_usage(self.deployment, engine, machines)
                    told.add(line.client.name)
                elif kind == "result":
                    if line.client.name not in told:
                        after = read_usage(self.deployment, engine, machines)
                    results[line.client.name] = result_of(line.client, line.event)
                elif kind == "interval":
                    self._show(line.event)
        if before is None or after is None:
            raise TrialFailedError("the load never began to measure", where=self.trial.name)
        return [results[c.name] for c in clients], before, after

    def _drop_caches(self) -> bool:
        """Whether the caches of all nodes' machines are empty now; those of other hosts are not."""
        nodes = (node for cluster in self.deployment.clusters for node in cluster.nodes)
        here = machines_of(n.accounting() for n in nodes) == (HERE,)
        return here and page_cache.drop()

    def nodes(self) -> list[Running]:
        """The database's units."""
        return [node for cluster in self.deployment.clusters for node in cluster.nodes]

    def unit_records(self, clients: list[LoadClient]) -> list[UnitRecord]:
        """The record of every participating unit, while the units run."""
        setup = self.condition.setup
        records: list[UnitRecord] = []
        for number, cluster in enumerate(self.deployment.clusters, start=1):
            targets = cluster.targets(runtime_key(setup.client), setup.platform.endpoint)
            for node, target in zip(cluster.nodes, targets, strict=True):
                unit = node.unit
                facts = parity_facts(node.accounting(), unit.site.data, self.machine_facts)
                given, size = cluster.memory
                facts[given] = size
                name = unit.site.name
                records.append(
                    unit_record(name, node, "database", number, setup.platform, target, facts)
                )
        for client in clients:
            if client.running is not None:
                number = client.cluster + 1
                records.append(
                    unit_record(client.name, client.running, "client", number, setup.client, "", {})
                )
        return records

    def keep_logs(self, clients: list[LoadClient], into: Path) -> None:
        """Copy what nodes and clients wrote."""
        with contextlib.suppress(Exception):  # an error here must not hide the failure
            self.deployment.collect_logs(into)
            for client in clients:
                if client.running is not None:
                    client.running.collect_logs(into)

    def _show(self, event: dict[str, Any]) -> None:
        phase = "measuring" if event["phase"] == "measure" else "settling"
        self.watcher.update(
            self.report(
                Progress(
                    phase,
                    subject=self.trial.name,
                    ops_per_s=event["ops_per_s"],
                    p99_us=event["p99_us"],
                    errors=event["errors"],
                )
            )
        )

    def _now(self) -> str:
        return datetime.fromtimestamp(self.wall(), UTC).isoformat()


def see_running(units: Mapping[str, Accounting], *, frozen: bool = True) -> None:
    """Raise TrialFailedError if somebody keeps one of these units, by name, from running.

    Args:
        frozen: a frozen control group counts. Where Tare itself freezes it between slices, the
            runtime's word counts instead.
    """
    for name, unit in units.items():
        by = unit.standing_still(frozen=frozen)
        if by:
            raise TrialFailedError(
                "a unit stood still while it was measured",
                where=name,
                why=by,
                remedy="let nothing pause it (kill -CONT, docker unpause); the same command tries "
                "the trial again",
            )


def _measured(results: list[ClientResult]) -> tuple[float, float]:
    """Unix times at which the first client began to measure and the last one ended."""
    start = min(result.start_unix for result in results)
    return start, max(result.start_unix + result.measured_s for result in results)


def failed_manifest(
    run: str, trial: PlannedTrial, condition: Condition, attempt: int, reason: str, deployment: str
) -> TrialManifest:
    """The record of an attempt that gave no result."""
    now = datetime.now(UTC).isoformat()
    return TrialManifest(
        **_planned(run, trial, condition, attempt),
        status="failed",
        reason=reason,
        deployment=deployment,
        started=now,
        ended=now,
        measure_start=0.0,
        measure_end=0.0,
        **unmeasured(),
    )


def _planned(run: str, trial: PlannedTrial, condition: Condition, attempt: int) -> dict[str, Any]:
    """The plan's fields of a trial's record."""
    return {
        "run": run,
        "trial": trial.name,
        "condition": condition.name,
        "levels": condition.levels,
        "round": trial.round,
        "block": trial.block,
        "position": trial.position,
        "attempt": attempt,
        "setup": condition.setup.model_dump(mode="json"),
    }
