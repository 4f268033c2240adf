"""Trials and conditions as tables show them; unusual trials are marked, never dropped."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.model import ConditionSummary, Series, TrialSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tare.analysis.trials import Trial
    from tare.study.conditions import Condition

OUTLIER = 3.5
"""Modified z score above which a trial is marked, and the factor that makes the median absolute
deviation comparable with a standard deviation (Iglewicz and Hoaglin 1993)."""
MAD_TO_SD = 0.6745
LEAST_FOR_OUTLIERS = 5
WATCHED = ("throughput", "all.mean", "all.p99")


def trial_summaries(trials: Sequence[Trial]) -> list[TrialSummary]:
    """One row per trial, in the order given."""
    outliers = find_outliers(trials)
    return [
        TrialSummary(
            trial=trial.name,
            condition=trial.condition,
            round=trial.manifest.round,
            block=trial.manifest.block,
            position=trial.manifest.position,
            deployment=trial.manifest.deployment,
            status=trial.manifest.status,
            reason=trial.manifest.reason,
            values=trial.values,
            beside=trial.beside,
            errors=trial.errors,
            saturated=trial.saturated,
            warm=trial.manifest.warm_up.flat if trial.manifest.warm_up else None,
            steady=trial.steady,
            change_points=trial.change_points,
            outlier=trial.name in outliers,
            files=trial.files,
            sources=[f.path for f in trial.manifest.source.files] if trial.manifest.source else [],
        )
        for trial in trials
    ]


def find_outliers(trials: Iterable[Trial]) -> set[str]:
    """Trials far from the median of their condition on throughput, mean or p99 (log scale)."""
    groups: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for trial in trials:
        for metric in WATCHED:
            if trial.values.get(metric):
                entry = trial.name, math.log(trial.values[metric])
                groups.setdefault((trial.condition, metric), []).append(entry)
    return {name for group in groups.values() for name in _far(group)}


def _far(group: Sequence[tuple[str, float]]) -> set[str]:
    if len(group) < LEAST_FOR_OUTLIERS:
        return set()
    distances = np.abs(np.array([y for _, y in group]) - np.median([y for _, y in group]))
    spread = float(np.median(distances))
    if spread == 0:
        return set()
    scores = MAD_TO_SD * distances / spread
    return {name for (name, _), score in zip(group, scores, strict=True) if score > OUTLIER}


def condition_summaries(
    conditions: Iterable[Condition], trials: Sequence[Trial]
) -> list[ConditionSummary]:
    """One row per condition of the study, whether or not it has trials."""
    return [_condition(condition, trials) for condition in conditions]


def _condition(condition: Condition, trials: Sequence[Trial]) -> ConditionSummary:
    own = [trial for trial in trials if trial.condition == condition.name]
    done = [trial for trial in own if trial.done]
    columns: dict[str, list[float]] = {}
    for trial in done:
        for metric, value in trial.values.items():
            columns.setdefault(metric, []).append(value)
    return ConditionSummary(
        condition=condition.name,
        levels=condition.levels,
        aa_of=condition.aa_of,
        trials=len(done),
        failed=len(own) - len(done),
        metrics={m: _typical(v) for m, v in columns.items()},
        cv={
            m: float(np.std(v, ddof=1) / np.mean(v))
            for m, v in columns.items()
            if len(v) > 1 and np.mean(v) > 0
        },
        median_trial=median_trial(done),
        steady_share=_steady_share(done),
        load=_load(done),
    )


def _load(trials: Sequence[Trial]) -> list[str]:
    """Who sent the load, if not Tare's own client, and what its numbers rest on."""
    tools = {c.version for trial in trials for c in trial.manifest.clients if c.tool}
    rests = {trial.manifest.load_rests_on for trial in trials} - {""}
    return [*(f"load sent by {tool}" for tool in sorted(tools)), *sorted(rests)]


def _steady_share(trials: Sequence[Trial]) -> float | None:
    judged = [trial.steady for trial in trials if trial.steady is not None]
    return sum(judged) / len(judged) if judged else None


def _typical(values: Sequence[float]) -> float:
    """The geometric mean; the arithmetic one where a value is not above 0."""
    positive = min(values) > 0
    return math.exp(float(np.mean(np.log(values)))) if positive else float(np.mean(values))


def median_trial(trials: Sequence[Trial]) -> str | None:
    """The trial with the median throughput; of an even number, the lower of the two middle ones."""
    ranked = sorted(
        (trial.values["throughput"], trial.name) for trial in trials if "throughput" in trial.values
    )
    return ranked[(len(ranked) - 1) // 2][1] if ranked else None


def series_of(trials: Iterable[Trial]) -> list[Series]:
    """The one-second series of all trials with series; the lists are the trials' own."""
    return [
        Series.model_construct(
            trial=trial.name,
            condition=trial.condition,
            t=trial.grid,
            values=trial.series,
            events=trial.events,
        )
        for trial in trials
        if trial.series
    ]
