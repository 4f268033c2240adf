"""Effects of a run for pairs of conditions that a finding compares, by the analysis's own methods.

Where the run's report has the very effect, it is that one. Else the pairs become a comparison of
their own, which goes through the same estimates and averages.
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
"""What a source that speaks of writes may have measured, by the operations of YCSB."""
_AS_RATIO = "{}.in-every-trial"
"""What a metric is called for a comparison that its own name rules out."""


@dataclass(frozen=True)
class MeasuredRun:
    """A run, as far as a scorecard needs it.

    Attributes:
        conditions: of its study, by name, as it was run.
        trials: that were done, with their values.
    """

    study: Study
    analysis: Analysis
    conditions: dict[str, Condition]
    trials: tuple[Trial, ...]

    @property
    def imported(self) -> bool:
        """Whether files of other tools are what was measured."""
        return any(trial.imported for trial in self.trials)

    def done(self, metric: str) -> set[str]:
        """The conditions with a trial that has the metric."""
        return {trial.condition for trial in self.trials if _value(trial, metric) is not None}


def own_metric(run: MeasuredRun, metric: str) -> str:
    """What a run calls a metric of a source. CPU use is that of the servers' machines there, which
    the clients of a run may share: the metric without them, where the run has it."""
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
    """One comparison that is asked for: a metric, and pairs that were all measured."""

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
    """The effect of each comparison; those with too few units for an interval are missing."""
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
    """Effects of comparisons that the report does not have."""
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
    # everything is asked for by name here; what the report is limited to does not count
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
    """Trials of the comparison in which there was nothing of what often is nothing: no ratio can
    be made with them. Those of other conditions do not count."""
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
    """The pairs as one comparison. Those with the same baselines are named alike, so that they
    share their variance as the report's do."""
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
    """The trial's value of a metric as a source names it."""
    if metric == ERRORS:
        return None
    operation, _, kind = metric.rpartition(".")
    names = [metric]
    if operation == "write":
        names += [f"{other}.{kind}" for other in _WRITES]
    return next((trial.values[name] for name in names if name in trial.values), None)
