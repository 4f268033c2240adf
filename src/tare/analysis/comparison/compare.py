"""B over A: two runs that share no block, compared condition by condition and effect by effect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy.special import stdtrit

from tare.analysis.catalogue import describe
from tare.analysis.comparison import sides
from tare.analysis.comparison.differing import differing
from tare.analysis.comparison.matching import match_conditions
from tare.analysis.comparison.model import Comparison, EffectChange, RunDifference
from tare.analysis.comparison.two_runs import between, combined, sides_of, welch
from tare.analysis.inference.multiplicity import adjust
from tare.analysis.inference.verdicts import (
    as_ratios,
    decide,
    further_units,
    least_detectable,
    run_tests,
)
from tare.study.metric_names import margin_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.comparison.model import Direction
    from tare.analysis.inference.estimates import Estimate
    from tare.analysis.inference.multiplicity import Adjusted
    from tare.analysis.inference.verdicts import Tests
    from tare.analysis.model import Analysis, Effect, Verdict


@dataclass(frozen=True)
class _Found:
    """One ratio before its p value is adjusted."""

    metric: str
    pair: tuple[str, str]
    estimate: Estimate
    margin: float | None
    tests: Tests

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.metric, *self.pair)


def compare(
    a: Analysis,
    b: Analysis,
    *,
    renamed: Mapping[str, str] | None = None,
    margins: Mapping[str, float] | None = None,
    metrics: Sequence[str] = (),
) -> Comparison:
    """Compare every condition that both runs have, on every metric that both have.

    Args:
        renamed: condition or level in A to its name in B.
        margins: metric to fraction; they win over those of A's study.
        metrics: the primary endpoints; none: those of A.

    Raises:
        UsageError: nothing in common, or a name that is in neither run.
    """
    pairs = match_conditions(a, b, renamed or {})
    declared, given = sides.study_margins(a), dict(margins or {})
    used = declared | given
    common = sides.common_metrics(a, b)
    primary = sides.primary_of(a, used, common, metrics)
    differences, gaps = _differences(a, b, pairs, common, used, primary)
    return Comparison(
        a=sides.side(a),
        b=sides.side(b),
        valid=a.valid and b.valid,
        margins=used,
        margins_from=sides.margins_from(declared, given),
        metrics=[describe(name) for name in common],
        differences=differences,
        changes=_changes(a, b, pairs, common, used, primary),
        differed=differing(a, b, pairs),
        noise_floor=sides.noise_floors(a, b, common, used),
        only_in_a=sides.without_partner(a, {first for first, _ in pairs}),
        only_in_b=sides.without_partner(b, {second for _, second in pairs}),
        unanswered=gaps,
        notes=sides.notes(a, b, differences),
    )


def _differences(
    a: Analysis,
    b: Analysis,
    pairs: Sequence[tuple[str, str]],
    metrics: Sequence[str],
    margins: Mapping[str, float],
    primary: Sequence[str],
) -> tuple[list[RunDifference], list[str]]:
    """Condition by condition; and the primary questions that the runs cannot answer."""
    left, right = sides_of(a), sides_of(b)
    levels = {c.condition: c.levels for c in b.conditions}
    found, gaps = [], []
    for metric in metrics:
        for first, second in pairs:
            one, other = left.get(metric, {}).get(first), right.get(metric, {}).get(second)
            estimate = welch(one, other) if one and other else None
            if estimate is not None:
                found.append(_tested(metric, (first, second), estimate, margins))
            elif metric in primary:
                gaps.append(f"{metric} of {second}")
    adjusted = _adjust(found, primary)
    differences = []
    for one_found in found:
        first, second = one_found.pair
        x, y = left[one_found.metric][first], right[one_found.metric][second]
        fields = _fields(one_found, adjusted, primary)
        comparisons = adjusted[one_found.key].comparisons if one_found.key in adjusted else 1
        needed = further_units(
            one_found.estimate, one_found.margin, fields["verdict"], comparisons=comparisons
        )
        differences.append(
            RunDifference(
                a=first,
                b=second,
                levels=levels[second],
                a_value=math.exp(x.mean),
                b_value=math.exp(y.mean),
                a_units=len(x.logs),
                b_units=len(y.logs),
                a_unit=x.unit,
                b_unit=y.unit,
                needed=needed,
                **fields,
            )
        )
    return differences, gaps


def _changes(
    a: Analysis,
    b: Analysis,
    pairs: Sequence[tuple[str, str]],
    metrics: Sequence[str],
    margins: Mapping[str, float],
    primary: Sequence[str],
) -> list[EffectChange]:
    """B's effects over A's: the ratio of two independent ratios."""
    partner = dict(pairs)
    before = {_effect_key(e, partner): e for e in a.effects if not e.aa}
    found: list[_Found] = []
    ratios: dict[tuple[str, str, str], tuple[float, float]] = {}
    for effect in b.effects:
        old = before.get(_effect_key(effect, {}))
        if old is None or effect.aa or effect.metric not in metrics:
            continue
        change = _ratio_of_ratios(old, effect)
        if change is not None:
            one = _tested(effect.metric, (effect.baseline, effect.treatment), change, margins)
            found.append(one)
            ratios[one.key] = old.ratio, effect.ratio
    adjusted = _adjust(found, primary)
    return [
        EffectChange(
            baseline=one.pair[0],
            treatment=one.pair[1],
            a_ratio=ratios[one.key][0],
            b_ratio=ratios[one.key][1],
            **_fields(one, adjusted, primary),
        )
        for one in found
    ]


def _effect_key(effect: Effect, partner: Mapping[str, str]) -> tuple[str, ...]:
    names = (partner.get(name, name) for name in (effect.baseline, effect.treatment))
    return (effect.metric, *names, *sorted(effect.over))


def _ratio_of_ratios(a: Effect, b: Effect) -> Estimate | None:
    """The standard errors are read from the intervals, which are t intervals on the log."""
    sides = []
    for effect in (a, b):
        low, high = effect.ci
        known = all(0 < value < math.inf for value in (low, high, effect.ratio))
        if not known or not effect.df > 0:
            return None
        se = (
            (math.log(high) - math.log(low)) / 2 / float(stdtrit(effect.df, 0.5 + effect.level / 2))
        )
        sides.append((se**2, effect.df))
    se, df = combined(sides[0], sides[1])
    conditional = a.conditional or b.conditional
    method = (
        f"ratio of the two effects, t interval from both standard errors, {df:.1f} degrees of "
        "freedom (Satterthwaite)"
    )
    if conditional:
        method += "; conditional on these very deployments"
    units = min(a.deployments, b.deployments)
    log_ratio = math.log(b.ratio) - math.log(a.ratio)
    return between(log_ratio, (se, df), units, b.unit_of_analysis, conditional, method + ".")


def _tested(
    metric: str, pair: tuple[str, str], estimate: Estimate, margins: Mapping[str, float]
) -> _Found:
    margin = margin_of(metric, margins)
    return _Found(metric, pair, estimate, margin, run_tests(estimate, margin))


def _adjust(
    found: Sequence[_Found], primary: Sequence[str]
) -> dict[tuple[str, str, str], Adjusted]:
    """Holm over the primary comparisons, Benjamini-Hochberg over the rest, as inside a run."""
    first: dict[tuple[str, str, str], float] = {}
    rest: dict[tuple[str, str, str], float] = {}
    for one in found:
        if one.tests.difference is not None:
            (first if one.metric in primary else rest)[one.key] = one.tests.difference
    return adjust(first, rest)


def _fields(
    one: _Found,
    adjusted: Mapping[tuple[str, str, str], Adjusted],
    primary: Sequence[str],
) -> dict[str, Any]:
    """What every tested ratio says of itself."""
    estimate, own = one.estimate, adjusted.get(one.key)
    verdict = decide(one.tests, own.p if own else None)
    return {
        "metric": one.metric,
        "ratio": math.exp(estimate.log_ratio),
        "ci": as_ratios(estimate.interval(0.95)),
        "ci90": as_ratios(estimate.interval(0.90)),
        "verdict": verdict,
        "direction": _direction(one.metric, estimate.log_ratio, verdict),
        "margin": one.margin,
        "df": estimate.df,
        "mde": least_detectable(estimate),
        "p": one.tests.difference,
        "p_equivalence": one.tests.equivalence,
        "p_adjusted": own.p if own else None,
        "adjustment": own.how if own else "none",
        "primary": one.metric in primary,
        "conditional": estimate.conditional,
        "method": estimate.method,
    }


def _direction(metric: str, log_ratio: float, verdict: Verdict) -> Direction:
    if not verdict.startswith("different"):
        return "none"
    return "better" if (log_ratio > 0) == (describe(metric).better == "higher") else "worse"
