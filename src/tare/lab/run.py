"""A run: every round, block and trial of a plan, journalled, resumable, cleaned up after."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import tare
from tare.errors import DiskFullError, TareError
from tare.lab import clean, marked
from tare.lab.class_archives import ClassArchives, recorders
from tare.lab.deployment import Deployment
from tare.lab.directory import (
    BEGUN,
    EXTENDED,
    FINISHED,
    RunDirectory,
    begin,
    last_failed,
    same_plan,
    state_of,
    still_as_chosen,
    study_digest,
)
from tare.lab.extension import keep_earlier_end
from tare.lab.fleet import Fleet
from tare.lab.head_start import HeadStarts
from tare.lab.journal import Journal
from tare.lab.maxima import Maxima
from tare.lab.progress import Heedless, Progress, Watcher
from tare.lab.run_lock import RunLock
from tare.lab.run_resources import RunResources, prepare
from tare.lab.runtime_recovery import await_runtimes
from tare.lab.sliced_block import BlockAgainError, SlicedBlock, all_or_none
from tare.lab.snapshots import Snapshots, makers
from tare.lab.stopping import RESUMED, Judge, TimeLimit, time_limit
from tare.lab.trial import TrialRun, failed_manifest
from tare.lab.undisturbed import undisturbed
from tare.machines.awake import awake, idle_cpus
from tare.records.layout import FAILED, UNFINISHED, TrialFiles
from tare.records.looks import Why
from tare.records.manifest import TrialManifest
from tare.records.run_prices import RunPrices
from tare.study.conditions import Condition
from tare.study.domains import domains_of
from tare.study.plan import Plan, PlannedTrial, Round
from tare.study.schema import Setup

ATTEMPTS = 2
"""a failed trial is tried once more, at the end of its block"""


@dataclass
class RunOutcome:
    """How a run ended."""

    directory: Path
    done: int
    failed: list[str] = field(default_factory=list)
    resumed: bool = False


class Lab:
    """Runs one plan on this machine."""

    def __init__(
        self,
        plan: Plan,
        directory: RunDirectory,
        study_file: Path,
        watcher: Watcher,
        clock: Callable[[], float] = time.monotonic,
        judge: Judge | None = None,
        command: str = "",
        prices: RunPrices | None = None,
    ) -> None:
        """Nothing is started yet.

        Args:
            judge: looks at the run; None: it has all its rounds, whatever they show.
            command: the command that begins such a run, for those who want to extend it.
            prices: prices for its bills, which the run keeps; None: it has them, or none.
        """
        self._plan = plan
        self._directory = directory
        self._study_file = study_file
        self._watcher = watcher
        self._clock = clock
        self._judge = judge
        self._command = command
        self._prices = prices
        self._head_starts = HeadStarts()
        self._done = set(directory.done)
        self._failed: list[str] = []
        self._journal: Journal
        self._maxima: Maxima
        self._snapshots: Snapshots
        self._archives: ClassArchives
        self._began = clock()
        self._began_with = len(directory.done)

    def run(self) -> RunOutcome:
        """Do everything that is still to do.

        A failed trial is recorded and does not end the run. However the run ends (return, error,
        Ctrl-C), nothing that it started is left running, and every finished trial is kept.

        Raises:
            LabBusyError: another run holds this machine.
            UsageError: it was begun with another plan, or another command has had it meanwhile.
            TareError: the run could not be prepared, or what runs its units is gone for good.
        """
        same_plan(self._directory, self._plan)
        with RunLock(self._directory.name), self._idle_cpus() as idle_cpus:
            still_as_chosen(self._directory)
            self._sweep("removing what a dead run left")
            conditions = [c.setup for c in self._plan.conditions]
            self._show(Progress("preparing"))
            makers_too = [*makers(conditions, self._plan.study.design), *recorders(conditions)]
            setups = conditions + makers_too
            resources: RunResources | None = None
            try:
                resources = prepare(
                    self._directory.name,
                    self._directory.work,
                    setups,
                    self._watcher.say,
                    domains_of(
                        self._plan.conditions,
                        self._plan.study.design,
                        len(os.sched_getaffinity(0)),
                    ),
                )
                self._begin(resources, idle_cpus)
                self._measure(resources, conditions)
            finally:
                with undisturbed():
                    self._clean_up(resources)
        return RunOutcome(
            self._directory.files.root, len(self._done), self._failed, self._directory.resumed
        )

    def _begin(self, resources: RunResources, idle_cpus: str) -> None:
        """Write what the run keeps from its beginning on, except for its journal."""
        environment = resources.environment() | {"idle_cpus": idle_cpus}
        environment |= {"command": self._command} if self._command else {}
        if self._directory.ended:
            keep_earlier_end(self._directory)
        begin(self._directory, self._plan, self._study_file, environment)
        if self._prices is not None:
            self._prices.keep(self._directory.files)
        self._journal = Journal(self._directory.files.journal)
        self._maxima = Maxima(
            self._plan, self._directory.files.maxima, self._journal, self._watcher_of()
        )

    def _measure(self, resources: RunResources, conditions: list[Setup]) -> None:
        """Do the rounds; the journal has how this session begins and how it ends."""
        try:
            self._journal.write(
                self._event(),
                tare=tare.__version__,
                study_digest=study_digest(self._plan.study),
                seed=self._plan.seed,
                rounds=len(self._plan.rounds),
                looks=self._plan.looks,
                ended=self._directory.ended,
                trials=len(self._plan.trials),
                done=len(self._done),
            )
            self._snapshots = Snapshots(
                resources, self._plan.study.design, self._watcher_of(), self._plan.seed
            )
            self._archives = ClassArchives(
                resources, self._plan.study.design, self._watcher_of(), conditions
            )
            rounds = self._rounds(resources, time_limit(self._plan, self._journal.events()))
            self._journal.write(FINISHED, rounds=rounds, done=len(self._done), failed=self._failed)
        except BaseException as error:
            with contextlib.suppress(OSError):  # a full disk must not hide the reason
                self._journal.write("run interrupted", why=repr(error))
            raise

    def _clean_up(self, resources: RunResources | None) -> None:
        """End everything of the run, and leave nothing half prepared on a host.

        Whoever watches may be gone.
        """
        self._watcher = Heedless(self._watcher)
        self._show(Progress("cleaning up"))
        try:
            for fault in resources.close() if resources is not None else ():
                self._watcher.say(f"something was left: {fault}")
        finally:
            marked.remove(self._directory.work, self._directory.files)
            self._sweep("removing what could not be stopped")

    def _event(self) -> str:
        """How this session begins, for the journal."""
        if not self._directory.resumed:
            return BEGUN
        state = state_of(self._journal.events())
        return EXTENDED if state is not None and state.finished else RESUMED

    def _rounds(self, resources: RunResources, limit: TimeLimit) -> int:
        """Do the remaining rounds; the last one that was done.

        A run ends before its last round if a planned look says that it is decided, or if another
        round would end too late.
        """
        first = self._directory.ended + 1
        for turn in self._plan.rounds[first - 1 :]:
            begun = self._clock()
            if turn.index > first and self._pending(turn) and not limit.allows(begun - self._began):
                self._watcher.say(f"design.at_most: round {turn.index} would end too late")
                self._look(turn.index - 1, "time")
                return turn.index - 1
            if self._pending(turn):
                self._round(turn, resources)
                limit.took(self._clock() - begun)
            if turn.index in self._plan.looks and self._look(turn.index, "planned"):
                return turn.index
        if self._plan.study.design.until == "decided" or self._directory.ended:
            self._look(len(self._plan.rounds), "end")
        return len(self._plan.rounds)

    def _look(self, round_: int, why: Why) -> bool:
        """Have somebody look at the run after a round; whether it is decided."""
        if self._judge is None:
            return False
        self._show(Progress("looking at the run", f"after round {round_}"))
        found = self._judge(round_, why)
        fact = {"round": found.round, "of": found.of, "why": found.why, "decided": found.decided}
        if not any(fact.items() <= event.items() for event in self._journal.events()):
            self._journal.write("look", fraction=found.round / found.of, **fact)
            self._watcher.say(
                f"look after round {found.round} of {found.of}: "
                f"{'decided' if found.decided else 'not decided'}"
            )
        return bool(found.decided)

    @contextlib.contextmanager
    def _idle_cpus(self) -> Iterator[str]:
        """Make idle CPUs do what the study asks for; yields what they do."""
        if self._plan.study.design.idle_cpus == "halt":
            yield "halt"
            return
        with awake() as why_not:
            if why_not:
                self._watcher.say(f"idle CPUs halt as usual: {why_not}")
            yield idle_cpus(why_not)

    def _sweep(self, why: str) -> None:
        """Remove everything that carries our labels; the lab is held, so nobody needs it."""
        hosts = any(
            part.source.from_inventory
            for one in self._plan.conditions
            for part in (one.setup.platform, one.setup.client)
        )
        found = clean.find(self._directory.files.root.parent, hosts=hosts)
        if found:
            for line in found.words():
                self._watcher.say(f"{why}: {line}")
            for fault in clean.remove(found):
                self._watcher.say(f"something was left: {fault}")
        for line in found.unanswered:
            self._watcher.say(f"could not look for what dead runs left in {line}")

    def _pending(self, turn: Round) -> list[PlannedTrial]:
        """Trials of the round that are still to do."""
        return [t for t in self._plan.trials if t.round == turn.index and t.name not in self._done]

    def _round(self, turn: Round, resources: RunResources) -> None:
        pending = self._pending(turn)
        fleet = Fleet(
            turn,
            self._plan,
            resources,
            self._journal,
            self._watcher_of(),
            self._directory,
            self._snapshots,
            self._archives,
        )
        try:
            if self._plan.study.design.fresh == "deployment":
                needed = {t.deployment for t in pending}
                fleet.raise_all([key for key in turn.deploy if key in needed])
            for block in turn.blocks:
                self._block([t for t in pending if t.block == block.index], fleet, resources)
        finally:
            fleet.lower_all()

    def _block(self, trials: list[PlannedTrial], fleet: Fleet, resources: RunResources) -> None:
        """All trials of a block, then the failed ones again."""
        if self._plan.study.design.slice_s is not None:
            self._sliced_block(trials, fleet, resources)
            return
        again = trials
        for _ in range(ATTEMPTS):
            failed: list[PlannedTrial] = []
            for trial in again:
                if not self._attempt(trial, fleet, resources):
                    failed.append(trial)
                    setup = self._plan.condition(trial.condition).setup
                    await_runtimes(resources.runtimes, setup, self._clock)
                fleet.after_trial(trial, more=[*failed, *again[again.index(trial) + 1 :]])
            again = failed
        self._failed += [trial.name for trial in again]
        fleet.after_block()

    def _sliced_block(
        self, trials: list[PlannedTrial], fleet: Fleet, resources: RunResources
    ) -> None:
        """All trials of a block in slices, and all of them again if one failed.

        Conditions are compared slice by slice: a trial that is measured later, alone, has no
        partner.
        """
        failed = trials
        for left in reversed(range(ATTEMPTS)):
            if failed:
                failed = self._attempt_together(trials, fleet, resources, last=left == 0)
        self._failed += [trial.name for trial in failed]
        fleet.after_block()

    def _attempt_together(
        self, trials: list[PlannedTrial], fleet: Fleet, resources: RunResources, *, last: bool
    ) -> list[PlannedTrial]:
        """Do trials in slices and keep their records; return the failed ones.

        While another attempt is left, the failure of one trial fails all.
        """
        asides = {trial.name: self._begin_record(trial) for trial in trials}
        runs: dict[str, tuple[TrialRun, Path]] = {}
        outcomes: dict[str, TrialManifest | TareError | OSError] = {}
        try:
            runs = self._runs_together(trials, fleet, resources, asides)
            if runs:
                design = self._plan.study.design
                outcomes = SlicedBlock(
                    runs, design, self._watcher_of(), self._head_starts
                ).perform()
        except DiskFullError:
            self._drop(asides)
            raise
        except (TareError, OSError) as error:
            outcomes = {trial.name: error for trial in trials}
        except BaseException:  # Ctrl-C: half a trial is no record
            self._drop(asides)
            raise
        for trial in trials:
            missing = TareError(
                f"no deployment of {trial.deployment} could be made",
                remedy="the same command tries it again",
            )
            outcomes.setdefault(trial.name, missing)
        if not last:
            outcomes = all_or_none(outcomes)
        failed: list[PlannedTrial] = []
        for trial in trials:
            outcome = outcomes[trial.name]
            if isinstance(outcome, TrialManifest):
                self._finish(trial, outcome, asides[trial.name])
        for trial in trials:
            outcome = outcomes[trial.name]
            if not isinstance(outcome, TrialManifest):
                failed.append(trial)
                deployment = runs[trial.name][0].deployment if trial.name in runs else None
                if not isinstance(outcome, BlockAgainError):
                    fleet.distrust(trial)
                self._fail(trial, asides[trial.name], deployment, outcome)
        for trial in failed:  # last, for it raises where a runtime is gone
            setup = self._plan.condition(trial.condition).setup
            await_runtimes(resources.runtimes, setup, self._clock)
        return failed

    def _runs_together(
        self,
        trials: list[PlannedTrial],
        fleet: Fleet,
        resources: RunResources,
        asides: dict[str, Path],
    ) -> dict[str, tuple[TrialRun, Path]]:
        """Trial to its run, for trials that have a deployment."""
        settled = {trial.name: self._settle(trial, fleet) for trial in trials}
        deployments = fleet.together(trials)
        return {
            trial.name: (
                self._trial_run(
                    trial, *settled[trial.name], deployments[trial.deployment], resources
                ),
                asides[trial.name],
            )
            for trial in trials
            if trial.deployment in deployments
        }

    def _drop(self, asides: dict[str, Path]) -> None:
        for aside in asides.values():
            marked.remove(aside, self._directory.files)

    def _attempt_of(self, trial: PlannedTrial) -> int:
        """The number of the current attempt; a resumed run goes on counting."""
        return last_failed(self._directory.files, trial.name) + 1

    def _begin_record(self, trial: PlannedTrial) -> Path:
        """An empty directory for the trial's files until it is complete."""
        aside = self._directory.files.trials / f"{UNFINISHED}{trial.name}{marked.PARTIAL}"
        marked.make(aside, self._directory.files)
        self._journal.write("trial begun", trial=trial.name, attempt=self._attempt_of(trial))
        return aside

    def _trial_run(
        self,
        trial: PlannedTrial,
        condition: Condition,
        note: str,
        deployment: Deployment,
        resources: RunResources,
    ) -> TrialRun:
        return TrialRun(
            run=self._directory.name,
            trial=trial,
            condition=condition,
            deployment=deployment,
            design=self._plan.study.design,
            machine_facts=resources.machine,
            attempt=self._attempt_of(trial),
            watcher=self._watcher_of(),
            note=note,
        )

    def _finish(self, trial: PlannedTrial, manifest: TrialManifest, aside: Path) -> None:
        """Keep a complete record under its final name."""
        self._keep(manifest, aside, self._directory.files.trial(trial.name))
        self._done.add(trial.name)
        self._journal.write("trial done", trial=trial.name, attempt=manifest.attempt)
        self._watcher.say(summary(manifest))

    def _attempt(self, trial: PlannedTrial, fleet: Fleet, resources: RunResources) -> bool:
        """Do a trial and keep its record under its final name; False when it failed."""
        aside = self._begin_record(trial)
        deployment: Deployment | None = None
        try:
            condition, note = self._settle(trial, fleet)
            deployment = fleet.take(trial)
            run = self._trial_run(trial, condition, note, deployment, resources)
            self._finish(trial, run.perform(aside), aside)
        except DiskFullError:
            marked.remove(aside, self._directory.files)
            raise
        except (TareError, OSError) as error:
            fleet.distrust(trial)  # first, for its data may be what filled the disk
            self._fail(trial, aside, deployment, error)
            return False
        except BaseException:  # Ctrl-C: half a trial is no record
            marked.remove(aside, self._directory.files)
            raise
        return True

    def _settle(self, trial: PlannedTrial, fleet: Fleet) -> tuple[Condition, str]:
        """The trial's condition with numbers as its load, searched first if there are none."""
        condition = self._plan.condition(trial.condition)
        reference = self._maxima.missing(condition)
        if reference is not None:
            place = next(t for t in self._plan.trials if t.condition == reference.name)
            self._maxima.find(condition, reference, fleet.take(place))
        return self._maxima.settle(condition)

    def _keep(self, manifest: TrialManifest, aside: Path, final: TrialFiles) -> None:
        TrialFiles(aside).manifest.write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
        if final.root.exists():
            shutil.rmtree(final.root)
        aside.rename(final.root)
        marked.unmark(final.root)

    def _fail(
        self,
        trial: PlannedTrial,
        aside: Path,
        deployment: Deployment | None,
        error: TareError | OSError,
    ) -> None:
        """Record a failed attempt with its reason and logs, beside the good trials."""
        attempt = self._attempt_of(trial)
        reason = str(error) if isinstance(error, TareError) else f"{type(error).__name__}: {error}"
        self._journal.write("trial failed", trial=trial.name, attempt=attempt, why=reason)
        self._watcher.say(f"{trial.name} failed (attempt {attempt}): {reason}")
        condition = self._plan.condition(trial.condition)
        manifest = failed_manifest(
            self._directory.name,
            trial,
            condition,
            attempt,
            reason,
            deployment.identity if deployment else "",
        )
        final = self._directory.files.trial(f"{trial.name}{FAILED}{attempt}")
        self._keep(manifest, aside, final)

    def _watcher_of(self) -> Watcher:
        return _Counting(self._watcher, self)

    def _show(self, progress: Progress) -> None:
        self._watcher.update(self.counted(progress))

    def counted(self, progress: Progress) -> Progress:
        """The progress with the run's own counts and the time that is left."""
        total, done = len(self._plan.trials), len(self._done)
        passed = self._clock() - self._began
        fresh = done - self._began_with
        estimate = self._plan.estimate.seconds * (total - self._began_with) / max(total, 1)
        by_plan = estimate - passed
        by_pace = passed / fresh * (total - done) if fresh else by_plan
        share = fresh / max(total - self._began_with, 1)
        left = share * by_pace + (1 - share) * by_plan
        return replace(progress, done=done, total=total, seconds_left=max(left, 0.0))


@dataclass
class _Counting:
    """Adds the run's counts to whatever is shown."""

    inner: Watcher
    lab: Lab

    def update(self, progress: Progress) -> None:
        self.inner.update(self.lab.counted(progress))

    def say(self, text: str) -> None:
        self.inner.say(text)


def summary(manifest: TrialManifest) -> str:
    """One line about a finished trial."""
    ops = sum(c.throughput for c in manifest.clients)
    errors = sum(c.errors for c in manifest.clients)
    count = sum(c.ok for c in manifest.clients)
    cpu = manifest.server_cpu_s * 1e6 / count if count else float("nan")
    parts = [f"{manifest.trial}: {ops:,.0f} operations/s", f"servers' CPU {cpu:.0f} us/operation"]
    if errors:
        parts.append(f"{errors} errors")
    if any(c.saturated for c in manifest.clients):
        parts.append("the client was the limit")
    return ", ".join(parts)
