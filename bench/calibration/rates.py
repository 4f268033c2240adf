"""The outcome of one simulated comparison, and rates over many with standard errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.inference.verdicts import ALPHA, bounds, decide, run_tests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.inference.estimates import Estimate

MARGIN = 0.05


@dataclass(frozen=True)
class Rate:
    """A share of comparisons and its standard error, from the spread between studies."""

    value: float
    se: float

    def __str__(self) -> str:
        return f"{100 * self.value:.1f}% ±{100 * self.se:.1f}"


@dataclass(frozen=True)
class Promises:
    """What is promised of every design.

    Attributes:
        coverage: the 95% interval holds the truth; 93 to 97% is promised.
        false_alarms: p <= 5% though nothing differs (A/A); at most 5% is promised.
        tost_size: TOST passes although the truth lies at the margin, the worse of its two ends;
            at most 5% is promised.
        alike: TOST passes where nothing differs: not promised, but what the study is good for.
    """

    coverage: Rate
    false_alarms: Rate
    tost_size: Rate
    alike: Rate


def judge(found: Estimate, truth: float = 0.0) -> tuple[bool, ...]:
    """Whether the interval holds the truth, and what the tests say at four true effects.

    An estimate moves with the true effect and its standard error stays, as it does in the
    estimator: so one simulated study serves an effect of none and one at either end of the margin.
    """
    low, high = found.interval(0.95)
    tests = run_tests(found, MARGIN)
    return (
        low <= truth <= high,
        decide(tests, None).startswith("different"),
        *(_passes(replace(found, log_ratio=found.log_ratio + edge)) for edge in bounds(MARGIN)),
        tests.equivalence is not None and tests.equivalence <= ALPHA,
    )


def _passes(found: Estimate) -> bool:
    p = run_tests(found, MARGIN).equivalence
    return p is not None and p <= ALPHA


def promises(studies: Sequence[Sequence[tuple[bool, ...]]]) -> Promises:
    """Shares over studies, each with one row of `judge` per comparison.

    The comparisons of a study share its baseline, so studies are what is counted.
    """
    shares = np.array([np.mean(rows, axis=0) for rows in studies])
    coverage, alarms, lower, upper, alike = (rate(column) for column in shares.T)
    return Promises(coverage, alarms, max(lower, upper, key=lambda r: r.value), alike)


def rate(per_study: Sequence[float]) -> Rate:
    """Mean and its standard error; that of a share of 0 is taken as one study's weight."""
    n = len(per_study)
    spread = float(np.std(per_study, ddof=1)) / math.sqrt(n)
    return Rate(float(np.mean(per_study)), max(spread, 1 / n))
