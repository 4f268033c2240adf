"""Ratios that would agree with a finding, whether an interval does, and what would decide.

The rules in words: docs/decisions/0011-scorecard.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scipy.special import stdtrit

from tare.knowledge.claims import hidden
from tare.knowledge.pooling import se_log
from tare.knowledge.replication.model import Band, Further
from tare.knowledge.sizing import MOST, deployments_for
from tare.study.metric_names import SERVER_UTIL, margin_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.model import Effect
    from tare.knowledge.replication.model import Agreement
    from tare.knowledge.schema import Finding, PublishedEffect

USUAL_MARGIN = 0.05
"""Margin if the study declares none for a metric."""
_LEAST_SD = 1 / 50
"""An sd is taken as at least this share of the distance to be detected: a smaller one needs no more
units, and the noncentral t distribution has no numbers so far out."""


def band_of(finding: Finding, margins: Mapping[str, float]) -> Band | None:
    """The ratios that would agree; None where the finding states neither number nor direction.

    A ratio p: from p / (1 + m) to p (1 + m), or the published 95% interval, where that is wider.
    Here p is all that the printed digits allow, or the steps of which the last was printed, and m
    is the study's margin for the metric.
    A range: from its lower end / (1 + m) to its upper end (1 + m). "No difference": p = 1.
    A direction alone: everything on that side of 1.
    """
    effect = finding.effect
    if effect is None:
        return None
    declared = margin_of(finding.metric, margins)
    if declared is None and finding.metric == "cpu.util":  # of servers: see own_metric
        declared = margin_of(SERVER_UTIL, margins)
    margin = USUAL_MARGIN if declared is None else declared
    basis = f"margin {margin * 100:g}%" + (" (none is declared)" if declared is None else "")
    if effect.how == "range":
        low, high = _stated_range(effect)
        return Band(low=low / (1 + margin), high=high * (1 + margin), basis=f"{basis} of the range")
    if effect.ratio is not None:
        return _around(finding, effect.ratio, margin, basis)
    if effect.direction == "none":
        return Band(low=1 / (1 + margin), high=1 + margin, basis=basis)
    if effect.direction == "higher":
        return Band(low=1.0, high=math.inf, basis="its direction alone")
    if effect.direction == "lower":
        return Band(low=0.0, high=1.0, basis="its direction alone")
    return None


def _stated_range(effect: PublishedEffect) -> tuple[float, float]:
    """Both ends; a bound alone reaches to no change, or is open on its other side."""
    low, high = effect.low, effect.high
    if low is None:
        low = 1.0 if effect.direction == "higher" and high is not None and high > 1 else 0.0
    if high is None:
        high = 1.0 if effect.direction == "lower" and low < 1 else math.inf
    return low, high


def _around(finding: Finding, ratio: float, margin: float, basis: str) -> Band:
    least, most = hidden(finding, ratio)
    low, high = least / (1 + margin), most * (1 + margin)
    if (least, most) != (ratio, ratio):
        basis += ", and the digits printed" if finding.values.step is None else ", and the steps"
    interval = published_interval(finding)
    if interval is not None and (interval[0] < low or interval[1] > high):
        low, high = min(low, interval[0]), max(high, interval[1])
        basis += ", widened to the published 95% interval"
    return Band(low=low, high=high, basis=basis)


def published_interval(finding: Finding) -> tuple[float, float] | None:
    """The 95% interval of the published ratio: as given, or from printed means, sds and n.

    The log-ratio's standard error by the delta method, with t of 2n - 2 degrees of freedom.
    """
    if finding.spread.ci is not None:
        return finding.spread.ci
    error, n = se_log(finding), finding.spread.n
    if finding.effect is None or finding.effect.ratio is None or error is None or not n or n < 2:
        return None
    half = float(stdtrit(2 * n - 2, 0.975)) * error
    return finding.effect.ratio * math.exp(-half), finding.effect.ratio * math.exp(half)


def judge(band: Band, ci: tuple[float, float]) -> Agreement:
    """agrees: the interval lies inside the band; disagrees: wholly outside it; else undecided.

    A band that ends at 1 and is open otherwise is a direction, and "no change" has no direction.
    """
    low, high = ci
    if high < band.low or low > band.high:
        return "disagrees"
    if direction_alone(band):
        inside = low > band.low and high < band.high
    else:
        inside = low >= band.low and high <= band.high
    return "agrees" if inside else "undecided"


def direction_alone(band: Band) -> bool:
    """The band is everything above 1, or everything below."""
    return (band.low, band.high) in ((1.0, math.inf), (0.0, 1.0))


def further(band: Band, effect: Effect) -> Further:
    """Units of analysis that would likely decide: so many give 80% power to tell the estimate, if
    it is the truth, from the nearest end of the band."""
    ends = [end for end in (band.low, band.high) if 0 < end < math.inf]
    distance = min(abs(math.log(effect.ratio / end)) for end in ends)
    unit = effect.unit_of_analysis
    if distance == 0:
        return Further(units=None, unit=unit)
    needed = deployments_for(max(effect.sd_log, distance * _LEAST_SD), math.expm1(distance))
    if needed >= MOST:
        return Further(units=None, unit=unit)
    return Further(units=max(1, needed - effect.deployments), unit=unit)
