"""Loads that are shares of a maximum: found once per run, before the first trial that needs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tare.errors import LoadError, TareError
from tare.lab.deployment import Deployment
from tare.lab.journal import Journal
from tare.lab.progress import Progress, Watcher
from tare.load.maximum import maximum, search, settled, words
from tare.records.maximum import Maximum
from tare.study.conditions import Condition, baseline_condition
from tare.study.plan import Plan
from tare.whole_file import replace_file


class Maxima:
    """The maxima of a run, kept in its directory, so that a resumed run has the same loads."""

    def __init__(self, plan: Plan, file: Path, journal: Journal, watcher: Watcher) -> None:
        """What an earlier part of the run found is read from `file`."""
        self._plan = plan
        self._file = file
        self._journal = journal
        self._watcher = watcher
        self._found: dict[str, Maximum] = {}
        self._failed: dict[str, TareError] = {}
        if file.is_file():
            stored = json.loads(file.read_text(encoding="utf-8"))
            self._found = {name: Maximum.model_validate(one) for name, one in stored.items()}

    def reference(self, condition: Condition) -> Condition | None:
        """The condition that has to be searched before this one can be measured."""
        load = condition.setup.load
        if load.sought is None:
            return None
        if load.search.of == "condition":
            # conditions that differ in their share alone have one maximum
            return next(c for c in self._plan.conditions if _but_load(c) == _but_load(condition))
        return self._plan.condition(baseline_condition(self._plan.study))

    def missing(self, condition: Condition) -> Condition | None:
        """The condition whose maximum is needed for this one, but not known yet."""
        found = self.reference(condition)
        if found is None:
            return None
        key = self._key(condition, found)
        return None if key in self._found or key in self._failed else found

    def find(self, condition: Condition, reference: Condition, deployment: Deployment) -> None:
        """Search on the reference's deployment, and keep what was found.

        Raises:
            LoadError: the search failed, or the client was the limit.
        """
        load = condition.setup.load
        # the reference's own workload: another workload has another maximum
        asked = {name: getattr(load, name) for name in ("threads", "rate", "search")}
        setup = reference.setup.model_copy(update={"load": reference.setup.load.settled(**asked)})
        self._watcher.update(Progress("searching", subject=reference.name))
        deployment.resume()
        client = deployment.searcher(setup, words(load, self._shares(condition, reference)))
        try:
            deployment.launch_search(client, setup, self._plan.seed)
            event = search(client, deployment.check_alive, self._show(reference.name))
            found = maximum(event, reference.name, deployment.identity)
        except LoadError as error:  # a search takes long: one failure is enough to know
            self._failed[self._key(condition, reference)] = error
            raise
        finally:
            deployment.discard([client])
        self._found[self._key(condition, reference)] = found
        self._keep()
        said = found.words(1.0, found.level.estimate if found.level else 0.0)
        self._journal.write("maximum found", condition=reference.name, says=said)
        self._watcher.say(f"{deployment.identity}: {said}")

    def settle(self, condition: Condition) -> tuple[Condition, str]:
        """The condition with numbers in place of shares, and a note on their origin.

        Raises:
            LoadError: the maximum has not been found.
        """
        reference = self.reference(condition)
        if reference is None:
            return condition, ""
        key = self._key(condition, reference)
        if key in self._failed:
            raise self._failed[key]
        found = self._found.get(key)
        if found is None:
            raise LoadError("the maximum has not been found", where=condition.name)
        load = condition.setup.load
        made = settled(load, found)
        level = made.threads if load.sought == "threads" else made.rate
        setup = condition.setup.model_copy(update={"load": made})
        note = f"load.{load.sought}: {found.words(load.share or 1.0, float(level))}"
        return condition.model_copy(update={"setup": setup}), note

    @staticmethod
    def _key(condition: Condition, reference: Condition) -> str:
        """Searches by threads and by rate have different keys."""
        return f"{reference.name} by {condition.setup.load.sought}"

    def _shares(self, condition: Condition, reference: Condition) -> list[float]:
        """Every share of this maximum that the plan needs, so that one search serves them all."""
        key = self._key(condition, reference)
        shares = set()
        for one in self._plan.conditions:
            of = self.reference(one)
            if of is not None and self._key(one, of) == key:
                shares.add(one.setup.load.share or 1.0)
        return sorted(shares)

    def _keep(self) -> None:
        stored = {name: one.model_dump(mode="json") for name, one in self._found.items()}
        replace_file(self._file, json.dumps(stored, indent=1))

    def _show(self, name: str) -> Callable[[dict[str, object]], None]:
        def show(event: dict[str, object]) -> None:
            rate = event.get("ops_per_s", event.get("throughput"))
            if isinstance(rate, (int, float)):
                self._watcher.update(
                    Progress("searching", subject=name, ops_per_s=float(rate), p99_us=None)
                )

        return show


def _but_load(condition: Condition) -> str:
    """The setup without the numbers that are shares of a maximum."""
    return f"{condition.setup.load.sought} {condition.setup.apart_from_intensity}"
