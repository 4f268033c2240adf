"""Intervals between identical conditions, and between two endpoints of one or of two deployments.

    python -m bench.alike runs/alike

For each run, prints every pair of conditions with the same setup: the intervals of the primary
metrics, and whether they exclude zero difference. Then compares published with bridge, first inside
one deployment, then between separate deployments. For all runs together, counts the intervals of
identical pairs that exclude zero difference. By chance, one in twenty does.

Estimates are the analysis's own. Variance is pooled over comparisons of one kind: ways into the
same deployment, or separate deployments that differ at most in the endpoint.
"""

from __future__ import annotations

import argparse
import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare.analysis.ending import looks_taken
from tare.analysis.inference.contrast_estimates import logs_of, make_rules
from tare.analysis.inference.estimates import estimate, make_stratum
from tare.analysis.inference.significance import levels_after
from tare.analysis.reading import read_trials
from tare.analysis.slices import fit_blocks
from tare.records.looks import read_looks
from tare.records.reader import read_run
from tare.study.conditions import expand
from tare.study.read import load_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tare.study.conditions import Condition
    from tare.study.schema import Setup

METRICS = ("service_demand", "throughput", "all.p99")
BASELINE, TREATMENT = "bridge", "published"
"""Endpoints compared with and without a shared deployment."""


@dataclass(frozen=True)
class Interval:
    """A ratio of one metric and its interval, as changes (0.01 is 1% more)."""

    change: float
    low: float
    high: float

    @property
    def excludes_none(self) -> bool:
        """Whether it excludes no difference."""
        return not self.low <= 0.0 <= self.high

    def overlaps(self, other: Interval) -> bool:
        """Whether both hold a common ratio."""
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        change, low, high = (100 * one for one in (self.change, self.low, self.high))
        return f"{change:+.2f}% [{low:+.2f}%, {high:+.2f}%]"


@dataclass(frozen=True)
class Compared:
    """Treatment over baseline on each metric.

    Attributes:
        shared: whether the same deployments served both.
        intervals: metric to interval; absent with fewer than two rounds, or values.
    """

    baseline: str
    treatment: str
    shared: bool
    intervals: Mapping[str, Interval]

    def __str__(self) -> str:
        how = "the same deployment" if self.shared else "separate deployments"
        return f"{self.treatment} over {self.baseline}, {how}"


class Measured:
    """One run: its log values, and its conditions by the deployments that served them."""

    def __init__(self, run: Path) -> None:
        """Read and fit the run, as an analysis does.

        Raises:
            RecordError: the directory is not a run's.
            StudyError: its study cannot be read.
        """
        found = read_run(run)
        study = load_study(found.files.study)
        trials = read_trials(found.trials).trials
        fit_blocks(trials)
        looks = looks_taken(read_looks(found.files.looks), study.design, trials)
        self.level = levels_after(looks).interval
        self.rounds = len({trial.manifest.round for trial in trials if trial.done})
        self._by_deployment = study.design.fresh == "deployment"
        rules = make_rules(trials, study.analysis, by_deployment=self._by_deployment)
        self._logs = logs_of(trials)
        self._groups = grouped(expand(study), rules.served)

    def alike(self) -> list[Compared]:
        """All pairs of one setup inside a deployment, and one pair per setup for every
        two deployments."""
        inside = [
            (first, second)
            for group in self._groups
            for first, second in itertools.combinations(group, 2)
            if first.setup == second.setup
        ]
        between: dict[tuple[int, int, str], tuple[Condition, Condition]] = {}
        for (i, one), (j, other) in itertools.combinations(enumerate(self._groups), 2):
            for first, second in itertools.product(one, other):
                if first.setup == second.setup:
                    key = i, j, first.setup.model_dump_json()
                    between.setdefault(key, (first, second))
        return [self._compare(*pair) for pair in (*inside, *between.values())]

    def endpoints(self) -> list[Compared]:
        """Published over bridge in each deployment with both, and between every two deployments
        with one endpoint each."""
        inside = [pair for group in self._groups for pair in _ways(group, group)[:1]]
        alone = [group for group in self._groups if len(group) == 1]
        between = [pair for two in itertools.permutations(alone, 2) for pair in _ways(*two)]
        return [self._compare(*pair) for pair in (*inside, *between)]

    def _compare(self, baseline: Condition, treatment: Condition) -> Compared:
        group = self._group(baseline)
        shared = treatment in group
        members = group if shared else self._like(baseline, treatment)
        found: dict[str, Interval] = {}
        for metric in METRICS:
            logs = self._logs.get(metric, {})
            own = {one.name: logs[one.name] for one in members if one.name in logs}
            stratum = make_stratum(own, baseline.name, by_deployment=self._by_deployment)
            one = estimate(stratum, treatment.name, shared=shared)
            if one is not None and not one.conditional:
                low, high = one.interval(self.level)
                found[metric] = Interval(*map(math.expm1, (one.log_ratio, low, high)))
        return Compared(baseline.name, treatment.name, shared, found)

    def _group(self, condition: Condition) -> list[Condition]:
        return next(group for group in self._groups if condition in group)

    def _like(self, baseline: Condition, treatment: Condition) -> list[Condition]:
        """Both, and from each other deployment the first condition that differs in the endpoint
        alone."""
        taken = [self._group(baseline), self._group(treatment)]
        others = [
            [one for one in group if _but_endpoint(one) == _but_endpoint(baseline)]
            for group in self._groups
            if group not in taken
        ]
        return [baseline, treatment, *(group[0] for group in others if group)]


def grouped(
    conditions: Sequence[Condition], served: Mapping[str, frozenset[str]]
) -> list[list[Condition]]:
    """The measured conditions, grouped by shared deployment."""
    groups: list[list[Condition]] = []
    for one in conditions:
        own = served.get(one.name)
        if own is None:
            continue
        group = next((g for g in groups if not own.isdisjoint(served[g[0].name])), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return groups


def _ways(
    one: Sequence[Condition], other: Sequence[Condition]
) -> list[tuple[Condition, Condition]]:
    """Pairs of bridge in one and published in the other, if nothing else differs."""
    return [
        (first, second)
        for first, second in itertools.product(one, other)
        if (_endpoint(first), _endpoint(second)) == (BASELINE, TREATMENT)
        and _but_endpoint(first) == _but_endpoint(second)
    ]


def _endpoint(condition: Condition) -> str:
    return condition.setup.platform.endpoint


def _but_endpoint(condition: Condition) -> Setup:
    platform = condition.setup.platform.model_copy(update={"endpoint": ""})
    return condition.setup.model_copy(update={"platform": platform})


def lines_of(compared: Compared) -> Iterator[str]:
    """An A/A pair: a line for it, and one for each metric."""
    yield str(compared)
    for metric in METRICS:
        one = compared.intervals.get(metric)
        said = "too few rounds" if one is None else f"{one}  {_said(one)}"
        yield f"  {metric:<15} {said}"


def _said(one: Interval) -> str:
    return "EXCLUDES no difference" if one.excludes_none else "holds no difference"


def beside(inside: Compared, between: Compared) -> Iterator[str]:
    """The same endpoints with and without a shared deployment."""
    yield f"{inside}"
    yield f"beside {between}"
    for metric in METRICS:
        one, other = inside.intervals.get(metric), between.intervals.get(metric)
        if one is None or other is None:
            yield f"  {metric:<15} too few rounds"
        else:
            said = "overlap" if one.overlaps(other) else "APART"
            yield f"  {metric:<15} {one}  beside {other}  {said}"


def total(pairs: Iterable[Compared]) -> str:
    """How many intervals of conditions that are alike exclude no difference."""
    known = [one for pair in pairs for one in pair.intervals.values()]
    excluded = sum(one.excludes_none for one in known)
    return f"{len(known)} A/A intervals, {excluded} exclude no difference"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.alike", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    pairs: list[Compared] = []
    for run in parser.parse_args().runs:
        measured = Measured(run)
        alike, ways = measured.alike(), measured.endpoints()
        pairs += alike
        print(f"{run.name}: {measured.rounds} rounds, intervals of {100 * measured.level:.4g}%")
        for pair in alike:
            print(*lines_of(pair), sep="\n")
        inside, between = ([one for one in ways if one.shared is how] for how in (True, False))
        for one, other in itertools.product(inside, between):
            print(*beside(one, other), sep="\n")
    print(total(pairs))


if __name__ == "__main__":
    main()
