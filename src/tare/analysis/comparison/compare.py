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
from tare.analysis.comparison.model import EffectChange, RunComparison, RunDifference
from tare.analysis.comparison.two_runs import between, combined, sides_of, welch
from tare.analysis.inference.tested import adjusted, tested

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.comparison.model import Direction
    from tare.analysis.inference.estimates import Estimate
    from tare.analysis.inference.multiplicity import Adjusted
    from tare.analysis.inference.tested import TestedRatio
    from tare.analysis.model import Analysis, Effect, Verdict


@dataclass(frozen=True)
class _Asked:
    """What is compared, and by which margins.

    Attributes:
        pairs: condition in A and in B.
        margins: metric to fraction.
        primary: the primary endpoints.
    """

    a: Analysis
    b: Analysis
    pairs: Sequence[tuple[str, str]]
    metrics: Sequence[str]
    margins: Mapping[str, float]
    primary: Sequence[str]


def compare(
    a: Analysis,
    b: Analysis,
    *,
    renamed: Mapping[str, str] | None = None,
    margins: Mapping[str, float] | None = None,
    metrics: Sequence[str] = (),
) -> RunComparison:
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
    asked = _Asked(a, b, pairs, common, used, primary)
    differences, gaps = _differences(asked)
    return RunComparison(
        a=sides.side(a),
        b=sides.side(b),
        valid=a.valid and b.valid,
        margins=used,
        margins_from=sides.margins_from(declared, given),
        metrics=[describe(name) for name in common],
        differences=differences,
        changes=_changes(asked),
        differed=differing(a, b, pairs),
        noise_floor=sides.noise_floors(a, b, common, used),
        only_in_a=sides.without_partner(a, {first for first, _ in pairs}),
        only_in_b=sides.without_partner(b, {second for _, second in pairs}),
        unanswered=gaps,
        notes=sides.notes(a, b, differences),
    )


def _differences(asked: _Asked) -> tuple[list[RunDifference], list[str]]:
    """Differences condition by condition; and the primary questions that the runs cannot answer."""
    left, right = sides_of(asked.a), sides_of(asked.b)
    levels = {c.condition: c.levels for c in asked.b.conditions}
    found, gaps = [], []
    for metric in asked.metrics:
        for first, second in asked.pairs:
            one, other = left.get(metric, {}).get(first), right.get(metric, {}).get(second)
            estimate = welch(one, other) if one and other else None
            if estimate is not None:
                found.append(tested(metric, (first, second), estimate, asked.margins))
            elif metric in asked.primary:
                gaps.append(f"{metric} of {second}")
    own = adjusted(found, asked.primary)
    differences = []
    for ratio in found:
        first, second = ratio.pair
        x, y = left[ratio.metric][first], right[ratio.metric][second]
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
                needed=ratio.needed(own.get(ratio.key)),
                **_fields(ratio, own, asked.primary),
            )
        )
    return differences, gaps


def _changes(asked: _Asked) -> list[EffectChange]:
    """B's effects over A's: the ratio of two independent ratios."""
    partner = dict(asked.pairs)
    before = {_effect_key(e, partner): e for e in asked.a.effects if not e.aa}
    found: list[TestedRatio] = []
    ratios: dict[tuple[str, str, str], tuple[float, float]] = {}
    for effect in asked.b.effects:
        old = before.get(_effect_key(effect, {}))
        if old is None or effect.aa or effect.metric not in asked.metrics:
            continue
        change = _ratio_of_ratios(old, effect)
        if change is not None:
            pair = effect.baseline, effect.treatment
            one = tested(effect.metric, pair, change, asked.margins)
            found.append(one)
            ratios[one.key] = old.ratio, effect.ratio
    own = adjusted(found, asked.primary)
    return [
        EffectChange(
            baseline=one.pair[0],
            treatment=one.pair[1],
            a_ratio=ratios[one.key][0],
            b_ratio=ratios[one.key][1],
            **_fields(one, own, asked.primary),
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


def _fields(
    one: TestedRatio, own: Mapping[tuple[str, str, str], Adjusted], primary: Sequence[str]
) -> dict[str, Any]:
    """The fields that every tested ratio has, and its direction."""
    fields = one.fields(own.get(one.key), primary)
    direction = _direction(one.metric, one.estimate.log_ratio, fields["verdict"])
    return fields | {"direction": direction}


def _direction(metric: str, log_ratio: float, verdict: Verdict) -> Direction:
    if not verdict.startswith("different"):
        return "none"
    return "better" if describe(metric).improved_by(math.exp(log_ratio)) else "worse"
