"""The usual width of intervals between servers, roughly, from the usual spread of identical ones.

It needs no library, so that `tare plan` does not wait for one.
"""

from __future__ import annotations

import math

IN_SLICES = 0.03
"""Sd of a log-ratio between identical servers, one each, that start from one snapshot and take
turns in slices, where half the load writes: 2% of a server, and the noise of the slices
(docs/resolution.md)"""
METRICS = ("service_demand", "throughput")
"""metrics with this sd"""
LEAST_ROUNDS = 3
"""With fewer, the interval is so wide that nothing rough can be said of it."""
_Z = 1.959964
"""of a 95% interval"""


def half_width(rounds: int, sd: float = IN_SLICES) -> float:
    """Half of a ratio's 95% interval after so many rounds, as a change; 2% too narrow at most.

    Source of the quantile of t: Abramowitz and Stegun (1964), 26.7.5, its first four terms.
    """
    df = rounds - 1
    terms = (
        (_Z**3 + _Z) / 4,
        (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96,
        (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384,
        (79 * _Z**9 + 776 * _Z**7 + 1482 * _Z**5 - 1920 * _Z**3 - 945 * _Z) / 92160,
    )
    t = _Z + sum(term / df**power for power, term in enumerate(terms, 1))
    return math.expm1(t * sd / math.sqrt(rounds))
