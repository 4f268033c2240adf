"""Latency distributions per condition, from merged histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tare.analysis.model import Distribution
from tare.records.hlog import merged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.metrics import LatencyKey
    from tare.analysis.reading import Pooled
    from tare.records.hlog import Latencies

ALL = "ALL"
KINDS: tuple[Literal["service", "response"], ...] = ("service", "response")

LADDER = [
    *range(0, 90, 5),
    *(100 - 10 ** (1 - step / 14) for step in range(43)),
]
"""Percentiles 0 to 99.99: every 5 below 90, then 14 per decade of the distance to 100, which are
evenly spaced on the logarithmic axis of a tail plot."""


def distributions(conditions: Sequence[str], pooled: Pooled) -> list[Distribution]:
    """Quantiles of all latencies of each condition, per operation and over all of them.

    A percentile is listed only where at least one observation lies beyond it.

    Args:
        conditions: names, in the order in which they are listed.
        pooled: condition to its histograms.
    """
    return [
        _distribution(condition, operation, kind, part)
        for condition in conditions
        for (operation, kind), part in _with_all(pooled.get(condition, {})).items()
        if part.total
    ]


def _with_all(parts: Mapping[LatencyKey, Latencies]) -> dict[LatencyKey, Latencies]:
    """These histograms, and per kind one over all operations."""
    together: dict[LatencyKey, Latencies] = {
        (ALL, kind): merged(part for (_, of), part in parts.items() if of == kind) for kind in KINDS
    }
    return {**parts, **together}


def _distribution(condition: str, operation: str, kind: str, part: Latencies) -> Distribution:
    total = part.total
    percentiles = [float(p) for p in LADDER if p == 0 or total * (1 - p / 100) >= 1]
    values = part.quantiles_us(percentiles)
    return Distribution.model_validate(
        {
            "condition": condition,
            "operation": operation,
            "kind": kind,
            "count": total,
            "quantiles": list(zip(percentiles, values, strict=True)),
        }
    )
