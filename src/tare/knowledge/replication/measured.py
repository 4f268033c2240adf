"""Effects of a run for a finding's pairs of conditions, by the analysis's own methods.

If the run's report has that effect, it is used. Else the pairs become a comparison of their own,
with the same estimates and averages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tare.analysis.catalogue import ERRORS, NO_RATIO
from tare.analysis.inference.contrasts import Contrast, Contrasts, make_contrasts
from tare.analysis.inference.effects import make_effects
from tare.analysis.trials import Trial
from tare.study.conditions import expand
from tare.study.metric_names import SERVER_UTIL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.model import Analysis, Effect
    from tare.records.reader import Run
    from tare.study.conditions import Condition
    from tare.study.schema import Study

    Rows = tuple[tuple[tuple[str, str], ...], ...]
    Key = tuple[str, frozenset[tuple[str, str]]]
    """(metric, pairs of conditions)"""

_WRITES = ("update", "insert")
"""Operations of YCSB that a source may have measured when it speaks of writes."""
_AS_RATIO = "{}.in-every-trial"
"""The name of a metric in a comparison that its own name rules out."""


@dataclass(frozen=True)
class MeasuredRun:
    """The parts of a run that a scorecard needs.

    Attributes:
        conditions: conditions of its study, by name, as they were run.
        trials: completed trials, with their values.
    """

    study: Study
    analysis: Analysis
    conditions: dict[str, Condition]
    trials: tuple[Trial, ...]

    @property
    def imported(self) -> bool:
        """Whether the measurements are files of other tools."""
        return any(trial.imported for trial in self.trials)

    def done(self, metric: str) -> set[str]:
        """The conditions with a trial that has the metric."""
        return {trial.condition for trial in self.trials if _value(trial, metric) is not None}


def own_metric(run: MeasuredRun, metric: str) -> str:
    """The run's name for a source's metric. A source's CPU use is that of the servers' machines,
    which a run's clients may share: then the metric without clients, if the run has it."""
    without = metric == "cpu.util" and run.done(SERVER_UTIL)
    return SERVER_UTIL if without else metric


def make_measured(run: Run, analysis: Analysis, study: Study) -> MeasuredRun:
    """Join the run's manifests with the values that its analysis found."""
    found = {one.trial: one for one in analysis.trials if one.status == "done"}
    trials = tuple(
        Trial(record.name, record.manifest, values=own.values, beside=own.beside)
        for record in run.trials
        if (own := found.get(record.name)) is not None
    )
    conditions = {one.name: one for one in expand(study)}
    return MeasuredRun(study, analysis, conditions, trials)


@dataclass(frozen=True)
class ComparisonRequest:
    """One requested comparison: a metric, and pairs that were all measured."""

    metric: str
    rows: Rows

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """All pairs of all rows."""
        return [pair for row in self.rows for pair in row]

    @property
    def key(self) -> Key:
        """Comparisons with the same key have the same answer."""
        return self.metric, frozenset(self.pairs)


def effects_of(run: MeasuredRun, wanted: Iterable[ComparisonRequest]) -> dict[Key, Effect]:
    """The effect of each comparison; comparisons with too few units for an interval are missing."""
    asked = {one.key: one for one in wanted}
    found = {key: effect for key, effect in _reported(run).items() if key in asked}
    left: dict[str, list[ComparisonRequest]] = {}
    for key, one in asked.items():
        if key not in found:
            left.setdefault(one.metric, []).append(one)
    for metric, own in left.items():
        found |= _compared(run, metric, own)
    return found


def _reported(run: MeasuredRun) -> dict[Key, Effect]:
    """The effects of the report, by the pairs that entered."""
    done = {trial.condition for trial in run.trials}
    repeats = {one.condition: one.aa_of for one in run.analysis.conditions}
    gone = {one.condition for one in run.analysis.left_out}
    planned = [
        one.model_copy(update={"aa_of": repeats.get(name)})
        for name, one in run.conditions.items()
        if name in repeats or name in gone
    ]
    asked = make_contrasts(planned, run.study.baseline, run.study.analysis)
    contrasts = asked.without(gone)
    pairs = {
        (one.baseline, one.treatment, one.over): frozenset(
            pair for pair in one.cells if done.issuperset(pair)
        )
        for one in contrasts.of
    }
    return {
        (effect.metric, key): effect
        for effect in run.analysis.effects
        if (key := pairs.get((effect.baseline, effect.treatment, tuple(effect.over))))
    }


def _compared(
    run: MeasuredRun, metric: str, wanted: Sequence[ComparisonRequest]
) -> dict[Key, Effect]:
    """Effects of comparisons that the report lacks."""
    name = _AS_RATIO.format(metric) if metric in NO_RATIO else metric
    wanted = [one for one in wanted if not zeros(run, one)]
    if not wanted:
        return {}
    trials = [
        replace(trial, values={name: value})
        for trial in run.trials
        if (value := _value(trial, metric)) is not None and (value > 0 or metric not in NO_RATIO)
    ]
    keys: dict[tuple[str, str, tuple[str, ...]], Key] = {}
    contrasts: list[Contrast] = []
    for one in wanted:
        contrast = _contrast(run.conditions, one)
        contrasts.append(contrast)
        keys[contrast.baseline, contrast.treatment, contrast.over] = one.key
    # everything is asked for by name here, so the report's limits do not count
    asked = run.study.analysis.model_copy(update={"metrics": [], "primary": []})
    made = make_effects(
        trials,
        Contrasts(contrasts, [], []),
        dict(run.study.margins),
        by_deployment=run.study.design.fresh == "deployment",
        asked=asked,
    )
    return {keys[one.baseline, one.treatment, tuple(one.over)]: one for one in made}


def zeros(run: MeasuredRun, wanted: ComparisonRequest) -> list[str]:
    """Trials of the comparison with a value of 0 in a metric that is often 0: they have no ratio.
    Trials of other conditions do not count."""
    if wanted.metric not in NO_RATIO:
        return []
    names = {name for pair in wanted.pairs for name in pair}
    return [
        trial.name
        for trial in run.trials
        if trial.condition in names
        and (value := _value(trial, wanted.metric)) is not None
        and value <= 0
    ]


def _contrast(conditions: Mapping[str, Condition], one: ComparisonRequest) -> Contrast:
    """The pairs as one comparison. Pairs with the same baselines get the same name, so that they
    share their variance as in the report."""
    base, treated = (sorted({pair[side] for pair in one.pairs}) for side in (0, 1))
    levels = conditions[treated[0]].levels
    common = {
        factor: level
        for factor, level in levels.items()
        if all(conditions[name].levels[factor] == level for name in treated)
    }
    single = len(one.pairs) == 1
    return Contrast(
        baseline=" + ".join(base),
        treatment=" + ".join(treated),
        factor="",
        levels=common,
        aa=False,
        over=() if single else tuple(factor for factor in levels if factor not in common),
        rows=() if single else one.rows,
        question="published findings",
    )


def _value(trial: Trial, metric: str) -> float | None:
    """The trial's value of a metric under the source's name."""
    if metric == ERRORS:
        return None
    operation, _, kind = metric.rpartition(".")
    names = [metric]
    if operation == "write":
        names += [f"{other}.{kind}" for other in _WRITES]
    return next((trial.values[name] for name in names if name in trial.values), None)
