"""A tested ratio among all others: its adjusted p value, its verdict, and its fields."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare.analysis.inference.multiplicity import adjust
from tare.analysis.inference.significance import PLAIN
from tare.analysis.inference.verdicts import (
    as_ratios,
    decide,
    further_units,
    least_detectable,
    run_tests,
)
from tare.study.metric_names import margin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.inference.estimates import Estimate
    from tare.analysis.inference.multiplicity import Adjusted, Comparison
    from tare.analysis.inference.significance import SignificanceLevels
    from tare.analysis.inference.verdicts import Tests


@dataclass(frozen=True)
class TestedRatio:
    """One ratio before its p value is adjusted.

    Attributes:
        pair: the two sides of the ratio: baseline and treatment, or a condition in two runs.
        margin: as a fraction; None: none is declared.
        levels: of its intervals.
    """

    metric: str
    pair: tuple[str, str]
    estimate: Estimate
    margin: float | None
    tests: Tests
    levels: SignificanceLevels

    @property
    def key(self) -> Comparison:
        return self.metric, *self.pair

    def fields(self, own: Adjusted | None, primary: Sequence[str]) -> dict[str, Any]:
        """The fields that every document has for it.

        Args:
            own: its adjusted p value; None: it is part of no family.
            primary: metrics that are primary endpoints.
        """
        estimate, levels = self.estimate, self.levels
        return {
            "metric": self.metric,
            "ratio": math.exp(estimate.log_ratio),
            "ci": as_ratios(estimate.interval(levels.interval)),
            "ci90": as_ratios(estimate.interval(levels.tost_interval)),
            "verdict": decide(self.tests, own.p if own else None),
            "margin": self.margin,
            "df": estimate.df,
            "mde": least_detectable(estimate),
            "p": self.tests.difference,
            "p_equivalence": self.tests.equivalence,
            "p_adjusted": own.p if own else None,
            "adjustment": own.how if own else "none",
            "primary": self.metric in primary,
            "conditional": estimate.conditional,
            "method": estimate.method,
        }

    def needed(self, own: Adjusted | None) -> int | None:
        """Further units until its verdict is likely to be a decision."""
        verdict = decide(self.tests, own.p if own else None)
        comparisons = own.comparisons if own else 1
        return further_units(self.estimate, self.margin, verdict, comparisons=comparisons)


def tested(
    metric: str,
    pair: tuple[str, str],
    estimate: Estimate,
    margins: Mapping[str, float],
    levels: SignificanceLevels = PLAIN,
) -> TestedRatio:
    """A ratio, tested at the margin that is declared for its metric.

    Args:
        margins: metric to fraction.
    """
    margin = margin_of(metric, margins)
    tests = levels.corrected(run_tests(estimate, margin))
    return TestedRatio(metric, pair, estimate, margin, tests, levels)


def adjusted(found: Iterable[TestedRatio], primary: Sequence[str]) -> dict[Comparison, Adjusted]:
    """Adjusted p values of one family: Holm over its primary comparisons, Benjamini-Hochberg over
    the rest. Conditional intervals have no p value and are no part of the family."""
    first: dict[Comparison, float] = {}
    rest: dict[Comparison, float] = {}
    for one in found:
        if one.tests.difference is not None:
            (first if one.metric in primary else rest)[one.key] = one.tests.difference
    return adjust(first, rest)
