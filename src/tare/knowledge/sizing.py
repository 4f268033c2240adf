"""The number of deployments that an answer needs, from the known variability."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from tare.analysis.inference.least import least_number
from tare.analysis.usual_spread import IN_SLICES
from tare.knowledge.pooling import sd_log

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.knowledge.nearness import Near

ALPHA, POWER = 0.05, 0.80
LEAST, MOST = 3, 1000
"""Deployments per condition: fewer than 3 say nothing about deployments; no study may have more
than 1000."""
ASSUMED = 0.05
"""Sd of a log-ratio where nothing is known; what docs/decisions/0002 simulates."""
FURTHEST = 0.5


class Size(BaseModel):
    """The number of deployments, and what it rests on."""

    model_config = ConfigDict(frozen=True)

    deployments: int = Field(description="per condition")
    margin: float = Field(description="the relative difference to be seen")
    sd_log: float = Field(description="sd of the log-ratio between repetitions, taken")
    known: list[float] = Field(description="those known near the question; empty: one is assumed")
    method: str


def size_of(near: Iterable[Near], margin: float, *, in_slices: bool = False) -> Size:
    """Deployments that give 80% power to see a difference as large as the margin.

    The sd is the median of the sds known of the same metric near the question. In a study in
    slices it is the sd that Tare saw, if that is less: published values were measured one after
    another.
    """
    known = sorted(
        sd
        for one in near
        if one.nearness.distance <= FURTHEST
        for sd in [sd_log(one.finding)]
        if sd is not None and sd > 0
    )
    sd = statistics.median(known) if known else ASSUMED
    basis = (
        f"the median of {len(known)} known ({known[0]:.1%} to {known[-1]:.1%})"
        if known
        else "assumed, for none is known near the question"
    )
    if in_slices and sd > IN_SLICES:
        basis = (
            "what Tare saw of identical servers that take turns in slices (docs/resolution.md); "
            f"of repetitions one after another {sd:.1%}, {basis}"
        )
        sd = IN_SLICES
    return Size(
        deployments=deployments_for(sd, margin),
        margin=margin,
        sd_log=sd,
        known=known,
        method=f"Paired t test, two-sided {ALPHA:.0%}, power {POWER:.0%}, for a difference of "
        f"{margin:.0%}; sd of the log-ratio between repetitions {sd:.1%}, {basis}.",
    )


def deployments_for(sd: float, margin: float) -> int:
    """Least number of pairs with the power, between LEAST and MOST (noncentral t)."""
    effect = math.log1p(margin) / sd
    return least_number(lambda n: _power(effect, n) >= POWER, LEAST, MOST)


def _power(effect: float, n: int) -> float:
    from scipy import stats  # takes half a second to import; most commands need not wait for it

    critical = float(stats.t.ppf(1 - ALPHA / 2, n - 1))
    return float(stats.nct.sf(critical, n - 1, effect * math.sqrt(n)))
