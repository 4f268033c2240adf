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
from tare.analysis.inference.significance import PLAIN
from tare.analysis.inference.tested import adjusted, tested
from tare.analysis.inference.verdicts import ALPHA, as_ratios, run_tests
from tare.analysis.model import Effect, Pair
from tare.study.metric_names import primary_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tare.analysis.inference.contrast_estimates import Compared, Rules
    from tare.analysis.inference.contrasts import Contrast, Contrasts
    from tare.analysis.inference.multiplicity import Adjusted, Comparison
    from tare.analysis.inference.significance import SignificanceLevels
    from tare.analysis.inference.tested import TestedRatio
    from tare.analysis.inference.verdicts import Tests
    from tare.analysis.trials import Trial
    from tare.study.question import AnalysisSection


@dataclass(frozen=True)
class _Found:
    compared: Compared
    ratio: TestedRatio

    @property
    def contrast(self) -> Contrast:
        return self.compared.contrast


def make_effects(
    trials: Sequence[Trial],
    contrasts: Contrasts,
    margins: Mapping[str, float],
    *,
    by_deployment: bool,
    asked: AnalysisSection | None = None,
    levels: SignificanceLevels = PLAIN,
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
        _Found(compared, tested(metric, pair, compared.estimate, margins, levels))
        for metric, results in _compare(trials, contrasts, rules, asked)
        for compared in results
        for pair in [(compared.contrast.baseline, compared.contrast.treatment)]
    ]
    primary = primary_metrics(margins, asked.primary if asked else ())
    own = _adjusted(found, primary)
    return [_effect(one, own.get(one.ratio.key), primary, rules) for one in found]


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


def _adjusted(found: Sequence[_Found], primary: Sequence[str]) -> dict[Comparison, Adjusted]:
    """Adjusted p values, one question at a time, averages apart from their single comparisons.

    Identical conditions are controls and part of no family.
    """
    own: dict[Comparison, Adjusted] = {}
    for family in {one.contrast.family for one in found}:
        asked = (one for one in found if one.contrast.family == family and not one.contrast.aa)
        own |= adjusted((one.ratio for one in asked), primary)
    return own


def _effect(one: _Found, own: Adjusted | None, primary: Sequence[str], rules: Rules) -> Effect:
    compared, contrast, levels = one.compared, one.contrast, one.ratio.levels
    found = compared.estimate
    fields = one.ratio.fields(own, primary)
    fields["method"] += levels.method + _adjustment(one.ratio.tests, own)
    unpooled = found.unpooled and t_interval(found.log_ratio, *found.unpooled, levels.interval)
    effect = Effect(
        levels=contrast.levels,
        baseline=contrast.baseline,
        treatment=contrast.treatment,
        factor=contrast.factor,
        over=list(contrast.over),
        how=rules.how if contrast.rows else None,
        aa=contrast.aa,
        level=levels.interval,
        ci_unpooled=as_ratios(unpooled) if unpooled else None,
        baseline_value=compared.values[0],
        treatment_value=compared.values[1],
        deployments=found.units,
        blocks=len(found.pairs) or found.units,
        cells=compared.cells,
        repetitions=compared.repetitions,
        unit_of_analysis=found.unit,
        sd_log=found.se * math.sqrt(found.units),
        needed=one.ratio.needed(own),
        pairs=[Pair(round=r, block=b, ratio=math.exp(y)) for (r, b), y in found.pairs.items()],
        crosschecks=compared.crosschecks(run_tests(found, None).difference),
        **fields,
        **_standardised(*compared.trials),
    )
    effect.crosschecks = judged(effect)
    return effect


def _adjustment(tests: Tests, own: Adjusted | None) -> str:
    """A sentence where multiplicity decided: the interval excludes 1, the adjusted p does not."""
    p = tests.difference
    if own is None or p is None or not p <= ALPHA < own.p:
        return ""
    return (
        f" Alone it would be a difference (p = {p:.2g}), but with so many comparisons such a one "
        f"is to be expected by chance ({own.how}: p = {own.p:.2g})."
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
