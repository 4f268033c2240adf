"""Measures all trials of a block together: each is a sum of slices; others run in between."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import TareError, TrialFailedError
from tare.lab.conductor import Conductor, with_hosts
from tare.lab.counted_calls import begin_counting, counted_calls
from tare.lab.counted_packets import client_packets_per_op
from tare.lab.head_start import HeadStarts
from tare.lab.host_slices import HostSlices, of_trial, start_probes, until_read_s
from tare.lab.progress import Progress, Watcher
from tare.lab.slice_records import (
    of_all_operations,
    slices_record,
    summed,
    with_cpu_time,
    write_slices,
)
from tare.lab.sliced_trial import SlicedTrial
from tare.lab.trial import TrialMeasured, TrialRun
from tare.lab.usage import grown
from tare.machines import cgroups, page_cache
from tare.machines.machine import HERE, Here
from tare.monitor.meter import Meter, processes_named
from tare.monitor.pace import NO_SAMPLES, Pace
from tare.records.events import write_events
from tare.records.layout import TrialFiles
from tare.study.design import OFF
from tare.study.quantities import cpus_of
from tare.study.slice_schedule import cut_of, make_schedule

if TYPE_CHECKING:
    from tare.databases.cluster import Watch
    from tare.databases.observed import Observed
    from tare.lab.conductor import Driven, TrialHere
    from tare.lab.deployment import Deployment
    from tare.load.client import LoadClient
    from tare.machines.machine import Machine
    from tare.monitor.calls import CallCounters
    from tare.records.manifest import TrialManifest
    from tare.study.schema import Design
    from tare.study.slice_schedule import Schedule

_READY_S = 0.2
"""how long before the first slice every client must be connected"""
_FREEZE_S = 0.1
"""how long before the first slice servers on other hosts are frozen; those here are by then"""
_DRAINS = (
    "CPU time is that of drains, too: a host's clock is not known well enough to read it when the "
    "load ends; longer slices (design.slice) need it less well"
)
_SILENCE_S = 30.0
"""A client reports every slice; one that is silent for this much longer hangs."""


class BlockAgainError(TrialFailedError):
    """A trial that is measured again because another of its block failed."""


def all_or_none(
    outcomes: Mapping[str, TrialManifest | TareError | OSError],
) -> dict[str, TrialManifest | TareError | OSError]:
    """The outcomes of a block's trials; if one failed, the good ones are given up."""
    failed = sorted(name for name, one in outcomes.items() if isinstance(one, Exception))
    if not failed:
        return dict(outcomes)
    return {name: one if name in failed else _again(name, failed) for name, one in outcomes.items()}


def _again(name: str, failed: Iterable[str]) -> BlockAgainError:
    why = f"{', '.join(failed)} failed"
    return BlockAgainError("measured again with its block", where=name, why=why)


class SlicedBlock:
    """Measures the trials of one block together."""

    def __init__(
        self,
        runs: Mapping[str, tuple[TrialRun, Path]],
        design: Design,
        watcher: Watcher,
        head_starts: HeadStarts,
        wall: Callable[[], float] = time.time,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """Nothing is started yet.

        Args:
            runs: trial to its run, and the directory into which its files are written.
            head_starts: those of the run, which each block teaches for the next.
        """
        self._design = design
        self._watcher = watcher
        self._head_starts = head_starts
        self._wall = wall
        self._wait = wait
        self._trials = [SlicedTrial(run, aside) for run, aside in runs.values()]
        deployments = {one.run.deployment.identity: one.run.deployment for one in self._trials}
        self._deployments: dict[str, Deployment] = deployments
        sharing: Counter[str] = Counter()
        for one in self._trials:
            # with the same keys in turn, each would find what another one has just read
            one.run.keys = sharing[one.run.deployment.identity]
            sharing[one.run.deployment.identity] += 1
        self._alone = {name for name, trials in sharing.items() if trials == 1}
        self._samples, self._why_not_paced = NO_SAMPLES, ""
        self._read_s = 0.0
        self._calls: CallCounters | None = None
        self._why_no_calls = ""
        self._launched = 0.0

    def perform(self) -> dict[str, TrialManifest | TareError | OSError]:
        """Measure; trial to its record, or to why it failed.

        Raises:
            TareError: nothing could be measured at all.
        """
        watches: dict[str, Watch] = {}
        try:
            if gone := self._begin():
                names = (one.run.trial.name for one in self._trials)
                return {name: gone.get(name) or _again(name, sorted(gone)) for name in names}
            dropped = self._prepare()
            for name in sorted(self._alone):
                watches[name] = self._deployments[name].watch(self._wall)
            schedule = self._schedule()
            compiled = self._compiler_seconds()
            self._count_calls(schedule)
            begins = self._launch(schedule)
            for watch in watches.values():
                watch.begin()
            driven = self._drive(schedule, begins)
            observed = {n: w.end(begins, begins + schedule.seconds) for n, w in watches.items()}
            after = self._compiler_seconds()
            compiled = {name: grown(used, after[name]) for name, used in compiled.items()}
            return {
                one.run.trial.name: self._outcome(
                    number, one, driven[number], schedule, observed, compiled, dropped
                )
                for number, one in enumerate(self._trials)
            }
        finally:
            for watch in watches.values():
                watch.close()
            if self._calls is not None:
                self._calls.close()
            for one in self._trials:
                one.run.deployment.discard(one.clients)

    def _begin(self) -> dict[str, TareError | OSError]:
        """Continue everything; trial to the error of its servers, which costs no other trial."""
        gone: dict[str, TareError | OSError] = {}
        for one in self._trials:
            try:
                one.run.begin()
                one.refuse_elsewhere()
            except (TareError, OSError) as error:
                gone[one.run.trial.name] = error
        return gone

    def _prepare(self) -> bool | None:
        """Bring everything into its declared state; whether caches were dropped."""
        seed = self._trials[0].run.seed
        for deployment in self._deployments.values():
            deployment.reset(self._design.reset, seed)
        return page_cache.drop() if self._design.drop_caches else None

    def _schedule(self) -> Schedule:
        return make_schedule(
            [one.run.trial.name for one in self._trials],
            cut_of(self._trials[0].run.condition.setup.load, self._design),
            self._design.seed,
            deployments=[one.run.deployment.identity for one in self._trials],
            shares=[one.run.condition.share for one in self._trials],
        )

    def _count_calls(self, schedule: Schedule) -> None:
        """Begin to count the servers' system calls; clients come later."""
        nodes = [node.accounting() for one in self._trials for node in one.run.nodes()]
        begun = begin_counting(nodes, schedule)
        if isinstance(begun, str):
            self._why_no_calls = begun
        else:
            self._calls = begun

    def _compiler_seconds(self) -> dict[str, float | None]:
        """Compiler's CPU seconds by trial, for deployments that serve one trial only."""
        return {name: self._deployments[name].compiler_seconds() for name in self._alone}

    def _launch(self, schedule: Schedule) -> float:
        """Start all clients; the Unix time at which the first slice's load begins."""
        for one in self._trials:
            one.clients = one.run.make_clients()
        clients = self._clients()
        self._launched = self._wall()
        begins = self._launched + self._head_starts.seconds(clients)
        silence_s = begins - self._launched + _SILENCE_S
        for number, one in enumerate(self._trials):
            first = schedule.of(number)[0].at
            one.run.launch(one.clients, begins + first, slices=schedule.told(number))
            one.listen(silence_s + schedule.longest_wait(number))
        return begins

    def _drive(self, schedule: Schedule, begins: float) -> list[list[Driven]]:
        """Conduct the slices, then thaw everything; each trial's slices, with the empty ones."""
        machines = [one.machines() for one in self._trials]
        everywhere = {machine for own in machines for machine in own}
        hosts = start_probes(everywhere, self._trials[0].run.run)
        try:
            self._await_ready(begins)
            here = [one.here() for one in self._trials]
            freezes = not self._why_not_frozen()
            self._read_s = until_read_s(schedule, everywhere)
            for host in hosts:
                own = [one.on(host.machine.name) for one in self._trials]
                host.begin(
                    schedule, begins, begins - _FREEZE_S, own, freezes=freezes, read_s=self._read_s
                )
            driven = self._conduct(schedule, begins, here, hosts, machines, freezes=freezes)
        finally:
            for host in hosts:
                host.close()
        whole = []
        for number, (one, trial, its) in enumerate(zip(self._trials, here, machines, strict=True)):
            probes = of_trial(hosts, its)
            whole.append(with_hosts(driven, schedule, number, trial, probes, here=HERE in its))
            if trial.fault:
                one.fault = one.fault or _undriven(one.run.trial.name, trial.fault)
        return whole

    def _conduct(
        self,
        schedule: Schedule,
        begins: float,
        here: list[TrialHere],
        hosts: list[HostSlices],
        machines: list[set[Machine]],
        *,
        freezes: bool,
    ) -> list[Driven]:
        names = {
            name
            for one in self._trials
            for name in one.run.deployment.engine_processes(one.run.condition.setup)
        }
        pace = self._pace(here_alone=not hosts)
        meter = Meter(processes_named(names) if names else (), tare=pace.pids if pace else ())

        def poll() -> None:
            ended = {one.machine.name for one in hosts if one.ended()}
            for number, (one, trial) in enumerate(zip(self._trials, here, strict=True)):
                told = next((one.faults[number] for one in hosts if number in one.faults), "")
                lost = ended.intersection(machine.name for machine in machines[number])
                if lost:
                    told = told or f"the probe on {min(lost)} has ended"
                trial.fault = trial.fault or one.failed() or told
            self._show(schedule, len(conductor.driven))

        if self._calls is not None:
            self._calls.add([unit for one in here for own in one.units.values() for unit in own])
            self._why_no_calls = self._calls.why_not
        conductor = Conductor(
            schedule, here, meter, freezes, poll, calls=self._calls, wall=self._wall,
            read_s=self._read_s,
        )  # fmt: skip
        self._learn_head_start()
        try:
            return conductor.conduct(begins)
        finally:
            conductor.release()
            meter.close()
            if pace is not None:
                self._samples = pace.stop()

    def _pace(self, *, here_alone: bool) -> Pace | None:
        """The pace of the CPUs, sampled from now on; or None and why not."""
        if self._design.pace == OFF:
            self._why_not_paced = "the study asks for it: pace: off"
        elif not here_alone:
            self._why_not_paced = "servers run on other hosts"
        else:
            limits = {one.run.condition.setup.platform.limits.cpuset for one in self._trials}
            anywhere = os.sched_getaffinity(0)
            cpus = {cpu for one in limits for cpu in (cpus_of(one) if one else anywhere)}
            pace = Pace(self._trials[0].run.run, cpus, self._trials[0].aside)
            self._why_not_paced = pace.why_not
            return None if pace.why_not else pace
        return None

    def _await_ready(self, begins: float) -> None:
        """Wait until every client is connected; one that is not in time has failed."""
        while any(one.connecting() for one in self._trials):
            if self._wall() > begins - _READY_S:
                break
            self._wait(0.02)
        for one in self._trials:
            if one.connecting():
                one.fault = TrialFailedError(
                    "a load client was not connected in time",
                    where=one.run.trial.name,
                    why="its first slice would have begun without it",
                    remedy="see its stderr.log in the trial's logs directory",
                )

    def _learn_head_start(self) -> None:
        """Learn for the next block: all clients are ready now, or one came too late."""
        if any(one.fault for one in self._trials):
            self._head_starts.missed(self._clients())
        else:
            self._head_starts.needed(self._clients(), self._wall() - self._launched)

    def _clients(self) -> list[LoadClient]:
        return [client for one in self._trials for client in one.clients]

    def _why_not_frozen(self) -> str:
        """Why servers are left running while others are driven; empty: they are frozen."""
        if self._design.idle == "run":
            return "the study asks for it: idle: run"
        for one in self._trials:
            for node in one.run.nodes():
                accounting = node.accounting()
                here = isinstance(accounting.machine, Here)
                if here and not cgroups.freezable(accounting.paths):
                    return f"{node.unit.site.name} has no control group that can be frozen here"
        return ""

    def _outcome(
        self,
        number: int,
        one: SlicedTrial,
        driven: list[Driven],
        schedule: Schedule,
        observed: dict[str, Observed],
        compiled: dict[str, float | None],
        dropped: bool | None,
    ) -> TrialManifest | TareError | OSError:
        try:
            results = one.finish()
            replies = one.replies_by_slice()
            drains = self._read_s > schedule.length_s
            if not drains:
                told = [(own.within, own.drained) for own in replies]
                driven = of_all_operations(driven, number, told)
            sums = summed(driven, number)
            nodes = {node.unit.site.name for node in one.run.nodes()}
            seen = observed.get(one.run.deployment.identity)
            warm = one.warm_operations()
            calls = counted_calls(driven, number, warm, nodes, sums.idle_s)
            record = slices_record(
                driven,
                number,
                schedule,
                undrained=sum(result.undrained for result in results),
                why_not_frozen=self._why_not_frozen(),
                why_not_paced=self._why_not_paced,
                calls=self._why_no_calls or calls,
                client_packets=client_packets_per_op(driven, number, warm),
            )
            measured = TrialMeasured(
                with_cpu_time(results, sums.units),
                servers_s=sum(used for name, used in sums.units.items() if name in nodes),
                compiler_s=compiled.get(one.run.deployment.identity),
                engine_s=sums.engine_s,
                machine_s=sums.machine_s,
                modes_s=sums.modes_s,
                probe_s=0.0,
                background_s=sums.background_s,
                server=seen.counts if seen else {},
                slices=record,
                notes=[*(seen.notes if seen else ()), *([_DRAINS] if drains else ())],
            )
            manifest = one.run.manifest(measured, one.run.unit_records(one.clients), dropped)
            for client in one.clients:
                client.keep_histogram(one.aside)
            files = TrialFiles(one.aside)
            write_slices(
                driven,
                number,
                replies,
                files.slices,
                lambda begins: self._samples.mean(begins, schedule.length_s),
            )
            write_events(seen.events if seen else [], files.events)
            return manifest
        except (TareError, OSError) as error:
            one.run.keep_logs(one.clients, one.aside / "logs")
            return error

    def _show(self, schedule: Schedule, done: int) -> None:
        trials = self._trials
        first, last = trials[0].run.trial, len(schedule.slots)
        self._watcher.update(
            Progress(
                "measuring",
                subject=f"D{first.round}-B{first.block:02}",
                detail=f"slice {done} of {last}, {len(trials)} conditions in turn",
            )
        )


def _undriven(trial: str, why: str) -> TrialFailedError:
    return TrialFailedError("slices are missing", where=trial, why=why)
