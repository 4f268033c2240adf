"""The deployments that are alive: made when needed, paused while idle, ended as declared.

Within a block in slices it is the conductor that freezes and thaws them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.errors import DiskFullError, TareError
from tare.lab.class_archives import ClassArchives
from tare.lab.deployment import Deployment
from tare.lab.directory import RunDirectory
from tare.lab.disk_space import refuse_full_disk
from tare.lab.journal import Journal
from tare.lab.progress import Watcher
from tare.lab.run_resources import RunResources
from tare.lab.snapshots import Snapshots
from tare.study.plan import Plan, PlannedTrial, Round
from tare.study.start import starts_here


class Fleet:
    """All deployments of one round."""

    def __init__(
        self,
        turn: Round,
        plan: Plan,
        resources: RunResources,
        journal: Journal,
        watcher: Watcher,
        directory: RunDirectory,
        snapshots: Snapshots,
        archives: ClassArchives,
        make: Callable[..., Deployment] = Deployment,
    ) -> None:
        """Nothing is started yet; `make` makes a deployment from the arguments of Deployment."""
        self._make = make
        self._turn = turn
        self._plan = plan
        self._resources = resources
        self._journal = journal
        self._watcher = watcher
        self._directory = directory
        self._snapshots = snapshots
        self._archives = archives
        self._design = plan.study.design
        self._alive: dict[str, Deployment] = {}

    def raise_all(self, keys: list[str]) -> None:
        """Deploy, populate and warm everything that a round needs, in the plan's order.

        On this machine servers start together, since one alone leaves CPUs idle. Then they rest
        until it is their turn to be warmed. A deployment that fails is left out here; its trials
        try it again and record why.
        """
        ahead = [key for key in keys if starts_here(self._plan.kinds(key)[0])]
        # what has to be made for them is made before anything else runs
        ready = [key for key in ahead if self._succeeds(key, self._prepare)]
        begun = [key for key in ready if self._succeeds(key, self._begin)]
        started = [key for key in begun if self._succeeds(key, self._start, self._rest)]
        for key in keys:
            if key in started and key in self._alive:
                self._succeeds(key, self._warm, self._rest)
            elif key not in ahead:
                self._succeeds(key, self._raise, self._rest)

    def _succeeds(self, key: str, *steps: Callable[[str], None]) -> bool:
        """Whether these steps of a deployment succeed."""
        try:
            for step in steps:
                step(key)
        except DiskFullError:
            raise
        except (TareError, OSError) as error:
            self._watcher.say(f"deployment of {key} failed, its trials will try again: {error}")
            return False
        return True

    def _prepare(self, key: str) -> None:
        setup = self._plan.kinds(key)[0]
        self._archives.of(setup)
        self._snapshots.of(setup)

    def take(self, trial: PlannedTrial) -> Deployment:
        """The deployment for a trial, made now if there is none; all others rest.

        Raises:
            TareError: it could not be made.
        """
        for key in list(self._alive):
            if key != trial.deployment:
                self._rest(key)
        if trial.deployment not in self._alive:
            self._raise(trial.deployment, trial.condition)
        return self._alive[trial.deployment]

    def together(self, trials: list[PlannedTrial]) -> dict[str, Deployment]:
        """Deployment keys to the deployments of these trials, made now if there are none.

        None of them rests; one that could not be made is not among them.
        """
        for trial in trials:
            if trial.deployment not in self._alive:
                try:
                    self._raise(trial.deployment)
                except DiskFullError:
                    raise
                except (TareError, OSError) as error:
                    self._watcher.say(f"deployment of {trial.deployment} failed: {error}")
        wanted = {trial.deployment for trial in trials}
        return {key: one for key, one in self._alive.items() if key in wanted}

    def _raise(self, key: str, only: str = "") -> None:
        """Make a deployment; if it serves a single trial, it is warmed up for that trial alone."""
        self._begin(key, only)
        self._start(key)
        self._warm(key)

    def _begin(self, key: str, only: str = "") -> None:
        of = f"D{self._turn.index}-{key}"
        identity = f"{of}-{self._journal.lives(of) + 1}"
        kinds = self._plan.kinds(key)
        if self._design.fresh == "trial" and only:
            kinds = [self._plan.condition(only).setup]
        refuse_full_disk(kinds[0], self._directory.work, self._resources.engine_directory)
        self._journal.write("deployment begun", deployment=identity, of=of)
        deployment = self._make(
            identity, kinds, self._design.warm, self._resources, self._watcher,
            endpoints=self._plan.endpoints(key),
        )  # fmt: skip
        self._alive[key] = deployment
        with self._ended_on_failure(key):
            deployment.start_from(*self._snapshots.of(kinds[0]))
            deployment.load_from(*self._archives.of(kinds[0]))
            deployment.begin()

    def _start(self, key: str) -> None:
        with self._ended_on_failure(key):
            self._alive[key].deploy()

    @contextmanager
    def _ended_on_failure(self, key: str) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._lower(key)
            raise

    def _warm(self, key: str) -> None:
        deployment = self._alive[key]
        with self._ended_on_failure(key):
            deployment.resume()
            deployment.populate(self._plan.seed)
            deployment.warm(self._plan.seed)
        identity, warm = deployment.identity, deployment.warm_up
        self._journal.write(
            "deployment ready",
            deployment=identity,
            warm=warm.flat if warm else None,
            warm_seconds=warm.seconds if warm else 0,
        )
        if warm is not None:
            state = "flat" if warm.flat else f"not flat: {warm.reason}"
            if warm.flat is None:
                state = "under a gentle load only"
            self._watcher.say(f"{identity}: ready, warmed for {warm.seconds:.0f} s, {state}")

    def _rest(self, key: str) -> None:
        if self._design.idle == "pause" and key in self._alive:
            try:
                self._alive[key].pause()
            except (TareError, OSError) as error:
                self._watcher.say(f"{self._alive[key].identity} could not be paused: {error}")
                self._lower(key)

    def after_trial(self, trial: PlannedTrial, more: list[PlannedTrial]) -> None:
        """End or rest the deployment, as the study declares; `more`: the block's other trials."""
        fresh = self._design.fresh
        wanted = fresh == "deployment" or (
            fresh == "block" and any(t.deployment == trial.deployment for t in more)
        )
        if wanted:
            self._rest(trial.deployment)
        else:
            self._lower(trial.deployment)

    def after_block(self) -> None:
        if self._design.fresh != "deployment":
            self.lower_all()

    def distrust(self, trial: PlannedTrial) -> None:
        """A trial failed on this deployment: end it, so that the retry gets a new one."""
        self._lower(trial.deployment)

    def lower_all(self) -> None:
        for key in list(self._alive):
            self._lower(key)

    def _lower(self, key: str) -> None:
        deployment = self._alive.pop(key, None)
        if deployment is None:
            return
        try:
            kept = self._kept(deployment)
            deployment.collect_logs(kept / "logs")
        except (TareError, OSError) as error:
            self._watcher.say(f"the logs of {deployment.identity} could not be kept: {error}")
        faults = deployment.destroy()
        self._journal.write(
            "deployment ended",
            deployment=deployment.identity,
            faults=[str(fault) for fault in faults],
        )

    def _kept(self, deployment: Deployment) -> Path:
        kept = self._directory.files.root / "deployments" / deployment.identity
        kept.mkdir(parents=True, exist_ok=True)
        (kept / "description.json").write_text(
            json.dumps(deployment.description, indent=1, default=str), encoding="utf-8"
        )
        return kept
