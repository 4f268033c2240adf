"""All effects of a study: every contrast on every metric, with interval, verdict and p values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.estimates import Logs, estimate, make_stratum, t_interval
from tare.analysis.metrics import ERRORS, in_order, margin_of
from tare.analysis.model import Effect, Pair
from tare.analysis.multiplicity import adjust, primary_endpoints
from tare.analysis.verdicts import ALPHA, decide, further_units, least_detectable, run_tests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.contrasts import Contrast, Contrasts
    from tare.analysis.estimates import Cell, Estimate
    from tare.analysis.multiplicity import Adjusted, Comparison
    from tare.analysis.trials import Trial
    from tare.analysis.verdicts import Tests

LEVEL = 0.95
TOST_LEVEL = 0.90


@dataclass(frozen=True)
class _Found:
    metric: str
    contrast: Contrast
    estimate: Estimate
    margin: float | None
    tests: Tests
    values: tuple[list[float], list[float]]  # per pair: baseline, treatment

    @property
    def key(self) -> Comparison:
        return self.metric, self.contrast.baseline, self.contrast.treatment


def logs_of(trials: Iterable[Trial]) -> dict[str, Logs]:
    """Metric to condition to (round, block) to log value, over all trials that were done.

    Where a trial was recorded twice, the later attempt counts.
    """
    logs: dict[str, Logs] = {}
    for trial in sorted(trials, key=lambda t: t.manifest.attempt):
        for metric, value in trial.values.items():
            if value > 0 and metric != ERRORS:
                cells = logs.setdefault(metric, {}).setdefault(trial.condition, {})
                cells[trial.cell] = math.log(value)
    return logs


def make_effects(
    trials: Sequence[Trial],
    contrasts: Contrasts,
    margins: Mapping[str, float],
    *,
    by_deployment: bool,
) -> list[Effect]:
    """Every contrast on every metric that both of its conditions have; metrics in report order.

    Args:
        margins: as the study declares them, metric to fraction.
        by_deployment: one life of a cluster serves all blocks of its round.
    """
    logs = logs_of(trials)
    served = _deployments(trials)
    found: list[_Found] = []
    for metric in in_order(logs):
        margin = margin_of(metric, margins)
        for baseline in contrasts.baselines:
            members = {n: logs[metric][n] for n in contrasts.stratum(baseline) if n in logs[metric]}
            stratum = make_stratum(members, baseline, by_deployment=by_deployment)
            for contrast in contrasts.of:
                if contrast.baseline != baseline:
                    continue
                shared = served.get(baseline) == served.get(contrast.treatment)
                result = estimate(stratum, contrast.treatment, shared=shared)
                if result is not None:
                    values = _paired_values(members, contrast, result.pairs)
                    tests = run_tests(result, margin)
                    found.append(_Found(metric, contrast, result, margin, tests, values))
    primary = primary_endpoints(margins)
    adjusted = _adjust(found, primary)
    return [_effect(one, adjusted.get(one.key), one.metric in primary) for one in found]


def _deployments(trials: Iterable[Trial]) -> dict[str, frozenset[str]]:
    """Condition to the deployments that served it."""
    served: dict[str, set[str]] = {}
    for trial in trials:
        if trial.done:
            served.setdefault(trial.condition, set()).add(trial.manifest.deployment)
    return {condition: frozenset(ids) for condition, ids in served.items()}


def _paired_values(
    logs: Logs, contrast: Contrast, pairs: Iterable[Cell]
) -> tuple[list[float], list[float]]:
    base, treated = logs[contrast.baseline], logs[contrast.treatment]
    return [math.exp(base[c]) for c in pairs], [math.exp(treated[c]) for c in pairs]


def _adjust(found: Sequence[_Found], primary: Sequence[str]) -> dict[Comparison, Adjusted]:
    """Adjusted p values, one question (factor) at a time.

    Identical conditions are controls, and conditional intervals have no p value: neither is part
    of a family.
    """
    adjusted: dict[Comparison, Adjusted] = {}
    for factor in {one.contrast.factor for one in found}:
        first: dict[Comparison, float] = {}
        rest: dict[Comparison, float] = {}
        for one in found:
            p = one.tests.difference
            if one.contrast.factor == factor and not one.contrast.aa and p is not None:
                (first if one.metric in primary else rest)[one.key] = p
        adjusted |= adjust(first, rest)
    return adjusted


def _effect(one: _Found, adjusted: Adjusted | None, primary: bool) -> Effect:
    found, contrast, tests = one.estimate, one.contrast, one.tests
    verdict = decide(tests, adjusted.p if adjusted else None)
    unpooled = found.unpooled and t_interval(found.log_ratio, *found.unpooled, LEVEL)
    base, treated = one.values
    return Effect(
        metric=one.metric,
        levels=contrast.levels,
        baseline=contrast.baseline,
        treatment=contrast.treatment,
        factor=contrast.factor,
        aa=contrast.aa,
        ratio=math.exp(found.log_ratio),
        ci=_ratios(found.interval(LEVEL)),
        ci90=_ratios(found.interval(TOST_LEVEL)),
        ci_unpooled=_ratios(unpooled) if unpooled else None,
        verdict=verdict,
        margin=one.margin,
        baseline_value=_geometric_mean(base),
        treatment_value=_geometric_mean(treated),
        deployments=found.units,
        blocks=len(found.pairs),
        unit_of_analysis=found.unit,
        df=found.df,
        sd_log=found.se * math.sqrt(found.units),
        mde=least_detectable(found),
        needed=further_units(
            found, one.margin, verdict, comparisons=adjusted.comparisons if adjusted else 1
        ),
        pairs=[Pair(round=r, block=b, ratio=math.exp(y)) for (r, b), y in found.pairs.items()],
        p=tests.difference,
        p_equivalence=tests.equivalence,
        p_adjusted=adjusted.p if adjusted else None,
        adjustment=adjusted.how if adjusted else "none",
        primary=primary,
        conditional=found.conditional,
        method=found.method + _adjustment(tests, adjusted),
        **_standardised(base, treated),
    )


def _adjustment(tests: Tests, adjusted: Adjusted | None) -> str:
    """A sentence where multiplicity decided: the interval excludes 1, the adjusted p does not."""
    p = tests.difference
    if adjusted is None or p is None or not p <= ALPHA < adjusted.p:
        return ""
    return (
        f" Alone it would be a difference (p = {p:.2g}), but with so many comparisons such a one "
        f"is to be expected by chance ({adjusted.how}: p = {adjusted.p:.2g})."
    )


def _ratios(interval: tuple[float, float]) -> tuple[float, float]:
    # beyond this, exp overflows; such an interval says nothing anyway
    low, high = (max(-700.0, min(700.0, bound)) for bound in interval)
    return math.exp(low), math.exp(high)


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(float(np.mean(np.log(values))))


def _standardised(base: Sequence[float], treated: Sequence[float]) -> dict[str, float | None]:
    """Cohen's d with the pooled sd sqrt((s1^2 + s2^2) / 2), and Hedges' g = d (1 - 3/(4 df - 1)).

    Secondary figures, over trials: they ignore that trials of one deployment are related.
    """
    if len(base) < 2:
        return {"cohens_d": None, "hedges_g": None}
    pooled = math.sqrt((float(np.var(base, ddof=1)) + float(np.var(treated, ddof=1))) / 2)
    if pooled == 0:
        return {"cohens_d": None, "hedges_g": None}
    d = (float(np.mean(treated)) - float(np.mean(base))) / pooled
    df = len(base) + len(treated) - 2
    return {"cohens_d": d, "hedges_g": d * (1 - 3 / (4 * df - 1))}
