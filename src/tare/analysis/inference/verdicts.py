"""From an effect's tests and a declared margin to one of four verdicts, and the units still needed.

The rules, in words, are in docs/decisions/0002.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy import special

from tare.analysis.inference.least import least_number

if TYPE_CHECKING:
    from tare.analysis.inference.estimates import Estimate
    from tare.analysis.model import Verdict

ALPHA = 0.05
POWER = 0.80
LEAST_DEPLOYMENTS = 3
"""Fewest deployments per condition that Tare advises: with two, one odd cluster is half of the
evidence."""
LEAST_UNITS, MOST_UNITS = 2, 10_000
"""Larger designs are not searched; nobody runs them."""
FAR = 1e3
"""Effects of more standard errors than this are surely detected."""
WIDEST = 700.0
"""Log-ratios beyond this overflow, and say nothing anyway."""
LEAST_SE = 1e-12
"""Standard errors below this are rounding of equal numbers."""


@dataclass(frozen=True)
class Tests:
    """P values of one estimate.

    Attributes:
        difference: two-sided, of a ratio of 1; None where the interval is conditional.
        equivalence: TOST, the larger of the two one-sided ones; None without margin.
    """

    difference: float | None
    equivalence: float | None


def bounds(margin: float) -> tuple[float, float]:
    """The log-ratios that count as equivalent: [ln(1 - d), ln(1 + d)]."""
    return math.log1p(-margin), math.log1p(margin)


def as_ratios(interval: tuple[float, float]) -> tuple[float, float]:
    """An interval of log-ratios as an interval of ratios."""
    low, high = (max(-WIDEST, min(WIDEST, bound)) for bound in interval)
    return math.exp(low), math.exp(high)


def run_tests(found: Estimate, margin: float | None) -> Tests:
    """t test of no difference, and two one-sided t tests at the margin (Schuirmann 1987)."""
    if found.conditional:
        return Tests(None, None)
    se = max(found.se, LEAST_SE)
    difference = 2 * float(special.stdtr(found.df, -abs(found.log_ratio) / se))
    if margin is None:
        return Tests(difference, None)
    low, high = bounds(margin)
    above = float(special.stdtr(found.df, (low - found.log_ratio) / se))
    below = float(special.stdtr(found.df, (found.log_ratio - high) / se))
    return Tests(difference, max(above, below))


def decide(tests: Tests, p_adjusted: float | None) -> Verdict:
    """The verdict.

    Different means: p of no difference, adjusted for multiplicity, at most 5%. Inside means: the
    TOST at the declared margin passes at 5%, which is the 90% interval lying inside the bounds.
    Both: different within the margin. Inside alone: equivalent. Neither: inconclusive.
    """
    p = tests.difference if p_adjusted is None else p_adjusted
    different = p is not None and p <= ALPHA
    inside = tests.equivalence is not None and tests.equivalence <= ALPHA
    if inside:
        return "different within the margin" if different else "equivalent"
    return "different" if different else "inconclusive"


def least_detectable(found: Estimate) -> float | None:
    """The smallest true change that such a run would detect with 80% power, without adjustment.

    MDE = (t(1 - alpha/2) + t(power)) * se, as a change (0.04 is 4%).
    """
    if found.conditional:
        return None
    quantiles = float(special.stdtrit(found.df, 1 - ALPHA / 2) + special.stdtrit(found.df, POWER))
    return math.expm1(min(quantiles * found.se, WIDEST))


def further_units(
    found: Estimate, margin: float | None, verdict: Verdict, *, comparisons: int = 1
) -> int | None:
    """Units of analysis that a decision at the margin still needs; None without a margin.

    So many give 80% power to detect a difference as large as the margin, and 80% power to show
    equivalence where there is no difference, given that the sd is only an estimate. If the run has
    these units and the verdict is open, the estimate lies near the margin. Then as many are needed
    as make the interval decide if the estimate stays where it is, with the level shared among the
    comparisons of its family (Bonferroni, which Holm never exceeds).
    """
    if margin is None:
        return None
    if verdict != "inconclusive":
        return 0
    if found.conditional:
        return LEAST_DEPLOYMENTS - 1
    planned = planned_units(found, margin)
    if planned > found.units:
        return planned - found.units
    sd = max(found.se * math.sqrt(found.units), LEAST_SE)
    decided = least_number(
        lambda n: _decisive(found, margin, sd, n, comparisons), LEAST_UNITS, MOST_UNITS
    )
    return max(1, decided - found.units)


def planned_units(found: Estimate, margin: float) -> int:
    """Units that a new study needs to decide at the margin with 80% power, whatever is true."""
    sd = max(found.se * math.sqrt(found.units), LEAST_SE)
    return least_number(lambda n: _powerful(found, margin, sd, n), LEAST_UNITS, MOST_UNITS)


def _powerful(found: Estimate, margin: float, sd: float, units: int) -> bool:
    """Whether this many units give the power, on average over how far the sd may be off.

    With an estimated sd of m degrees of freedom, d/sd has to reach the quantile of the noncentral
    t distribution with m degrees of freedom, not the sum of two central ones (Julious and Owen,
    Sample size calculations for clinical studies allowing for uncertainty about the variance,
    Pharmaceutical Statistics 5, 2006). Without a true difference TOST fails on either side alike,
    so that each side gets half of the risk.
    """
    df = found.slope * (units - 1)
    low, high = bounds(margin)
    effect = min(FAR, min(-low, high) / sd * math.sqrt(units))
    different = special.nctdtr(found.df, special.stdtrit(df, 1 - ALPHA / 2), effect)
    alike = special.nctdtr(found.df, special.stdtrit(df, 1 - ALPHA), effect)
    return bool(different >= POWER and alike >= (1 + POWER) / 2)


def _decisive(found: Estimate, margin: float, sd: float, units: int, comparisons: int) -> bool:
    df = found.slope * (units - 1)
    se = sd / math.sqrt(units)
    different = abs(found.log_ratio) > float(special.stdtrit(df, 1 - ALPHA / 2 / comparisons)) * se
    low, high = bounds(margin)
    half = float(special.stdtrit(df, 1 - ALPHA)) * se
    inside = low < found.log_ratio - half and found.log_ratio + half < high
    return different or inside
