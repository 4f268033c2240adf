"""All effects of a study: every contrast on every metric, with interval, verdict and p values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.catalogue import in_order
from tare.analysis.inference.contrast_estimates import (
    compare_in_blocks,
    compare_independent,
    logs_of,
    make_rules,
    samples_of,
)
from tare.analysis.inference.crosschecks import judged
from tare.analysis.inference.estimates import t_interval
from tare.analysis.inference.levels import PLAIN
from tare.analysis.inference.multiplicity import adjust
from tare.analysis.inference.verdicts import (
    ALPHA,
    as_ratios,
    decide,
    further_units,
    least_detectable,
    run_tests,
)
from tare.analysis.model import Effect, Pair
from tare.study.metric_names import margin_of, primary_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tare.analysis.inference.contrast_estimates import Compared, Rules
    from tare.analysis.inference.contrasts import Contrast, Contrasts
    from tare.analysis.inference.levels import Levels
    from tare.analysis.inference.multiplicity import Adjusted, Comparison
    from tare.analysis.inference.verdicts import Tests
    from tare.analysis.trials import Trial
    from tare.study.question import AnalysisSection


@dataclass(frozen=True)
class _Found:
    metric: str
    compared: Compared
    margin: float | None
    tests: Tests

    @property
    def contrast(self) -> Contrast:
        return self.compared.contrast

    @property
    def key(self) -> Comparison:
        return self.metric, self.contrast.baseline, self.contrast.treatment


def make_effects(
    trials: Sequence[Trial],
    contrasts: Contrasts,
    margins: Mapping[str, float],
    *,
    by_deployment: bool,
    asked: AnalysisSection | None = None,
    levels: Levels = PLAIN,
) -> list[Effect]:
    """Every contrast on every metric that both of its conditions have; metrics in report order.

    Args:
        margins: as the study declares them, metric to fraction.
        by_deployment: one life of a cluster serves all blocks of its round.
        asked: the study's analysis section; None: everything, in pairs inside blocks.
        levels: of the look at which the run ended.
    """
    rules = make_rules(trials, asked, by_deployment=by_deployment)
    found = [
        _Found(metric, compared, margin, levels.corrected(run_tests(compared.estimate, margin)))
        for metric, results in _compare(trials, contrasts, rules, asked)
        for margin in [margin_of(metric, margins)]
        for compared in results
    ]
    primary = primary_metrics(margins, asked.primary if asked else ())
    adjusted = _adjust(found, primary)
    return [
        _effect(one, adjusted.get(one.key), one.metric in primary, rules, levels) for one in found
    ]


def _compare(
    trials: Sequence[Trial], contrasts: Contrasts, rules: Rules, asked: AnalysisSection | None
) -> Iterator[tuple[str, Iterator[Compared]]]:
    """The metrics that are asked for, with their comparisons."""
    wanted = set(asked.metrics) if asked else set()
    if rules.independent:
        samples = samples_of(trials)
        for metric in in_order(samples):
            if not wanted or metric in wanted:
                yield metric, compare_independent(samples[metric], contrasts, rules)
        return
    logs = logs_of(trials)
    for metric in in_order(logs):
        if not wanted or metric in wanted:
            yield metric, compare_in_blocks(logs[metric], contrasts, rules)


def _adjust(found: Sequence[_Found], primary: Sequence[str]) -> dict[Comparison, Adjusted]:
    """Adjusted p values, one question at a time, averages apart from what they average.

    Identical conditions are controls, and conditional intervals have no p value: neither is part
    of a family.
    """
    adjusted: dict[Comparison, Adjusted] = {}
    for family in {one.contrast.family for one in found}:
        first: dict[Comparison, float] = {}
        rest: dict[Comparison, float] = {}
        for one in found:
            p = one.tests.difference
            if one.contrast.family == family and not one.contrast.aa and p is not None:
                (first if one.metric in primary else rest)[one.key] = p
        adjusted |= adjust(first, rest)
    return adjusted


def _effect(
    one: _Found, adjusted: Adjusted | None, primary: bool, rules: Rules, levels: Levels
) -> Effect:
    compared, contrast, tests = one.compared, one.contrast, one.tests
    found = compared.estimate
    verdict = decide(tests, adjusted.p if adjusted else None)
    unpooled = found.unpooled and t_interval(found.log_ratio, *found.unpooled, levels.interval)
    effect = Effect(
        metric=one.metric,
        levels=contrast.levels,
        baseline=contrast.baseline,
        treatment=contrast.treatment,
        factor=contrast.factor,
        over=list(contrast.over),
        how=rules.how if contrast.rows else None,
        aa=contrast.aa,
        ratio=math.exp(found.log_ratio),
        ci=as_ratios(found.interval(levels.interval)),
        ci90=as_ratios(found.interval(levels.tost_interval)),
        level=levels.interval,
        ci_unpooled=as_ratios(unpooled) if unpooled else None,
        verdict=verdict,
        margin=one.margin,
        baseline_value=compared.values[0],
        treatment_value=compared.values[1],
        deployments=found.units,
        blocks=len(found.pairs) or found.units,
        cells=compared.cells,
        repetitions=compared.repetitions,
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
        method=found.method + levels.method + _adjustment(tests, adjusted),
        crosschecks=compared.crosschecks(run_tests(found, None).difference),
        **_standardised(*compared.trials),
    )
    effect.crosschecks = judged(effect)
    return effect


def _adjustment(tests: Tests, adjusted: Adjusted | None) -> str:
    """A sentence where multiplicity decided: the interval excludes 1, the adjusted p does not."""
    p = tests.difference
    if adjusted is None or p is None or not p <= ALPHA < adjusted.p:
        return ""
    return (
        f" Alone it would be a difference (p = {p:.2g}), but with so many comparisons such a one "
        f"is to be expected by chance ({adjusted.how}: p = {adjusted.p:.2g})."
    )


def _standardised(base: Sequence[float], treated: Sequence[float]) -> dict[str, float | None]:
    """Cohen's d with the pooled sd sqrt((s1^2 + s2^2) / 2), and Hedges' g = d (1 - 3/(4 df - 1)).

    Secondary figures, over trials: they ignore that trials of one deployment are related.
    """
    if len(base) < 2 or len(treated) < 2:
        return {"cohens_d": None, "hedges_g": None}
    pooled = math.sqrt((float(np.var(base, ddof=1)) + float(np.var(treated, ddof=1))) / 2)
    if pooled == 0:
        return {"cohens_d": None, "hedges_g": None}
    d = (float(np.mean(treated)) - float(np.mean(base))) / pooled
    df = len(base) + len(treated) - 2
    return {"cohens_d": d, "hedges_g": d * (1 - 3 / (4 * df - 1))}
