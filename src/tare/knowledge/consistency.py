"""Whether a file's numbers agree: units, effects from values, means, recorded conflicts.

Rounding is taken as the source printed it: 1.4 stands for anything from 1.35 to 1.45.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from tare.knowledge.derived import RATIO_DIGITS, direction_of
from tare.study.metric_names import KINDS, SERVER_UTIL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tare.knowledge.schema import Finding, PublishedEffect

_HALF = 0.5 * 10**-RATIO_DIGITS + 1e-9
_WHOLE_PERCENT = 0.005 + 1e-9


@dataclass(frozen=True)
class Objection:
    """A mistake in one finding."""

    finding: str
    what: str


@dataclass(frozen=True)
class Span:
    """All numbers that a rounded number may stand for."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        slack = 1e-9 * max(1.0, abs(self.low), abs(self.high))
        return self.low - slack <= value <= self.high + slack

    def meets(self, other: Span) -> bool:
        """Whether any number lies in both."""
        return other.low in self or other.high in self or self.low in other


def as_printed(value: float) -> Span:
    """The numbers that round to this one, by the digits that it was written with."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    half = 0.5 * 10.0 ** min(exponent if isinstance(exponent, int) else 0, 0)
    return Span(value - half, value + half)


def objections(findings: Iterable[Finding]) -> list[Objection]:
    """All mistakes in the findings of one file."""
    known = list(findings)
    by_id = {finding.id: finding for finding in known}
    doubled = [
        Objection(name, "id used twice")
        for name, count in Counter(one.id for one in known).items()
        if count > 1
    ]
    return doubled + [Objection(one.id, what) for one in known for what in _of_finding(one, by_id)]


def _of_finding(finding: Finding, by_id: Mapping[str, Finding]) -> Iterator[str]:
    yield from _unit(finding)
    if finding.kind == "spread":
        spread = finding.spread
        if spread.baseline_sd is None and spread.sd_low is None and spread.sd_high is None:
            yield "spread: no standard deviation is given"
        if finding.effect is not None or finding.treatment is not None:
            yield "spread: has an effect or a treatment, so it is not only a spread"
        return
    if finding.effect is None or finding.treatment is None:
        yield "effect: an effect needs a treatment and an effect"
        return
    yield from _shape(finding, finding.effect)
    yield from _arithmetic(finding, finding.effect)
    yield from _mean_of(finding.effect, by_id)
    yield from _extreme_of(finding.effect, by_id)
    yield from _interval(finding, finding.effect)
    yield from _cohens_d(finding)


def allowed_units(metric: str) -> set[str]:
    """Units in which this metric may be given."""
    operation, _, kind = metric.rpartition(".")
    if operation and kind in KINDS:
        return {"us", "ms"}
    if metric == "throughput":
        return {"operations/s"}
    if metric in ("cpu.util", SERVER_UTIL, "cpu.softirq"):
        return {"%"}
    if metric.startswith("disk."):
        return {"kB", "kB/s"}
    if metric == "service_demand" or metric.endswith("_per_op"):
        return {"us/operation"}
    return (
        {"operations"}
        if metric == "errors"
        else {"", "%", "us", "ms", "kB", "kB/s", "operations/s"}
    )


def _unit(finding: Finding) -> Iterator[str]:
    allowed = allowed_units(finding.metric)
    if finding.unit not in allowed:
        yield f"unit {finding.unit!r} for {finding.metric}; one of {', '.join(sorted(allowed))}"
    operation = finding.metric.rpartition(".")[0]
    if finding.metric.rpartition(".")[2] in KINDS and operation not in (
        finding.operation,
        "all",
    ):
        yield f"metric {finding.metric} of operation {finding.operation}"


def _shape(finding: Finding, effect: PublishedEffect) -> Iterator[str]:
    values = finding.values
    both = values.baseline is not None and values.treatment is not None
    if effect.how == "two values" and not both:
        yield "effect: from two values, and there are not two"
    if values.step is not None and effect.how != "two values":
        yield "values: a step, and the effect is not from two values"
    if effect.how == "chained":
        yield "effect: chained, which Tare makes of other findings when it is asked"
    if effect.how == "direction" and (effect.ratio is not None or both):
        yield "effect: only the direction is stated, but there are numbers"
    if effect.how == "range" and effect.low is None and effect.high is None:
        yield "effect: from a range, and there is none"
    if effect.how in ("printed", "two values", "computed") and effect.ratio is None:
        yield "effect: no ratio"
    if (effect.printed is None) != (effect.printed_as == ""):
        yield "effect: printed and printed_as belong together"
    if effect.how == "printed" and effect.printed is None:
        yield "effect: printed, and the printed number is missing"
    ends = [end for end in (effect.low, effect.ratio, effect.high) if end is not None]
    if ends != sorted(ends):
        yield f"effect: not in order: low {effect.low}, ratio {effect.ratio}, high {effect.high}"
    if effect.ratio is not None and effect.how != "computed":
        expected = direction_of(effect.ratio)
        if effect.direction != expected:
            yield f"effect: direction {effect.direction} with ratio {effect.ratio}"


def _arithmetic(finding: Finding, effect: PublishedEffect) -> Iterator[str]:
    """The ratio follows from the values or the printed change; a conflict of both is recorded."""
    base, treated = finding.values.baseline, finding.values.treatment
    recorded = {one.about for one in finding.discrepancies}
    if base is not None and treated is not None:
        if base <= 0 or treated <= 0:
            yield "values: not positive, so there is no ratio"
            return
        if effect.how == "two values" and abs(treated / base - (effect.ratio or 0)) > _HALF:
            yield f"ratio {effect.ratio}: the values give {treated / base:.{RATIO_DIGITS}f}"
        for kind, number, agrees in _stated(finding, effect, base, treated):
            if kind == "printed" and not agrees and effect.printed_as not in _about(recorded):
                yield f"printed {number}: the values disagree, and no discrepancy is recorded"
            if kind == "other" and agrees:
                yield f"discrepancy {number}: agrees with the values, so it is none"
    elif effect.how == "printed" and effect.printed_as == "percent" and effect.printed is not None:
        expected = 1 + effect.printed / 100
        if abs(expected - (effect.ratio or 0)) > _HALF:
            yield f"ratio {effect.ratio}: the printed change gives {expected:.{RATIO_DIGITS}f}"


def _about(recorded: Iterable[str]) -> set[str]:
    return {{"change": "percent", "points": "points"}.get(one, one) for one in recorded}


def _stated(
    finding: Finding, effect: PublishedEffect, base: float, treated: float
) -> Iterator[tuple[str, float, bool]]:
    """Every stated change beside two values: its kind, the number, and whether it agrees."""
    below, above = as_printed(base), as_printed(treated)
    percent = Span((above.low / below.high - 1) * 100, (above.high / below.low - 1) * 100)
    points = Span(above.low - below.high, above.high - below.low)
    spans = {"percent": percent, "points": points, "change": percent}
    if effect.printed is not None and effect.printed_as:
        yield "printed", effect.printed, as_printed(effect.printed).meets(spans[effect.printed_as])
    for one in finding.discrepancies:
        if one.other is not None and one.about in spans:
            yield "other", one.other, as_printed(one.other).meets(spans[one.about])


def _mean_of(effect: PublishedEffect, by_id: Mapping[str, Finding]) -> Iterator[str]:
    if not effect.mean_of or effect.printed is None:
        return
    changes: list[float] = []
    for name in effect.mean_of:
        part = by_id[name].effect if name in by_id else None
        if part is None or part.ratio is None:
            yield f"mean_of: {name} is no finding with a ratio in this file"
            return
        changes.append((part.ratio - 1) * 100)
    mean = sum(changes) / len(changes)
    own, parts = as_printed(effect.printed), 100 * _HALF
    if not own.meets(Span(mean - parts, mean + parts)):
        yield f"printed {effect.printed}: the mean of its parts is {mean:.2f}"


def _extreme_of(effect: PublishedEffect, by_id: Mapping[str, Finding]) -> Iterator[str]:
    """The ends of a range are the least and the greatest of its parts, to the whole percent."""
    parts = [by_id[name].effect for name in effect.extreme_of if name in by_id]
    ratios = [part.ratio for part in parts if part is not None and part.ratio is not None]
    if len(ratios) < len(effect.extreme_of):
        yield "extreme_of: one is no finding with a ratio in this file"
        return
    for end, most in ((effect.low, min(ratios, default=0)), (effect.high, max(ratios, default=0))):
        if ratios and end is not None and abs(end - most) > _WHOLE_PERCENT:
            yield f"{end}: the parts of the range have {most}"


def _interval(finding: Finding, effect: PublishedEffect) -> Iterator[str]:
    ci = finding.spread.ci
    if ci is None or effect.ratio is None:
        return
    if not 0 < ci[0] <= effect.ratio <= ci[1]:
        yield f"ci {ci}: does not hold the ratio {effect.ratio}"


def cohens_d(finding: Finding) -> float | None:
    """d = |difference| / sqrt((s1^2 + s2^2) / 2); None without means and sds."""
    values, spread = finding.values, finding.spread
    if None in (values.baseline, values.treatment, spread.baseline_sd, spread.treatment_sd):
        return None
    pooled = math.hypot(spread.baseline_sd or 0, spread.treatment_sd or 0) / math.sqrt(2)
    return abs((values.treatment or 0) - (values.baseline or 0)) / pooled if pooled else None


def _cohens_d(finding: Finding) -> Iterator[str]:
    stated, found = finding.spread.cohens_d, cohens_d(finding)
    if stated is None or found is None:
        return
    recorded = any(one.about == "cohens-d" for one in finding.discrepancies)
    agrees = abs(stated - found) <= 0.01
    if not agrees and not recorded:
        yield f"cohens_d {stated}: the means and sds give {found:.2f}"
    if agrees and recorded:
        yield f"cohens_d {stated}: agrees with the means and sds, so there is no discrepancy"
