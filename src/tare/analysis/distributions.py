"""Latency distributions per condition, from merged histograms."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from tare.analysis.metrics import LEAST_BEYOND
from tare.analysis.model import Distribution
from tare.records.hlog import Latencies, merged

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from tare.analysis.metrics import LatencyKey
    from tare.analysis.reading import Pooled
    from tare.analysis.trials import Trial
    from tare.records.hlog import HistogramLog

    Band = list[tuple[float, float, float]]

ALL = "ALL"
KINDS = {"st": "service", "rt": "response"}
"""What is timed, by the ends of a histogram log's tags."""
LOST_SHARE = 0.01
"""Share of the operations that may be missing from the histograms: the last interval of a client
may end a moment before its final count."""

LADDER = [
    *range(0, 90, 5),
    *(100 - 10 ** (1 - step / 14) for step in range(43)),
]
"""Percentiles 0 to 99.99: every 5 below 90, then 14 per decade of the distance to 100, which are
evenly spaced on the logarithmic axis of a tail plot."""


LEAST_UNITS = 3
"""Fewest deployments for a band: with two, the interval is thirteen standard errors wide."""


def distributions(
    conditions: Sequence[str],
    pooled: Pooled,
    trials: Iterable[Trial] = (),
    *,
    by_deployment: bool = False,
) -> list[Distribution]:
    """Quantiles of all latencies of each condition, per operation and over all of them.

    A percentile is listed only where at least one observation lies beyond it.

    Args:
        conditions: names, in the order in which they are listed.
        pooled: condition to its histograms.
        trials: the trials that bands are made from.
        by_deployment: one life of a cluster serves all blocks of its round, which are one unit.
    """
    bands = _bands(trials, by_deployment=by_deployment)
    return [
        _distribution(condition, operation, kind, part, bands.get((condition, operation, kind), []))
        for condition in conditions
        for (operation, kind), part in _with_all(pooled.get(condition, {})).items()
        if part.total
    ]


def curves(parts: Mapping[LatencyKey, Latencies]) -> dict[LatencyKey, list[float]]:
    """A trial's latencies at the ladder's percentiles, microseconds, as far as it resolves them."""
    found: dict[LatencyKey, list[float]] = {}
    for key, part in _with_all(parts).items():
        total = part.total
        resolved = [p for p in LADDER if total * (1 - p / 100) >= LEAST_BEYOND]
        found[key] = part.quantiles_us(resolved) if resolved else []
    return found


def _bands(trials: Iterable[Trial], *, by_deployment: bool) -> dict[tuple[str, str, str], Band]:
    """(condition, operation, kind) to its band: t intervals of mean log latencies over units."""
    units: dict[tuple[str, str, str], dict[Hashable, list[list[float]]]] = defaultdict(dict)
    for trial in trials:
        if not trial.done:
            continue
        unit: Hashable = trial.manifest.round if by_deployment else trial.name
        for (operation, kind), curve in trial.curves.items():
            own = units[trial.condition, operation, kind]
            own.setdefault(unit, []).append(curve)
    return {key: _band(list(own.values())) for key, own in units.items()}


def _band(units: Sequence[Sequence[Sequence[float]]]) -> Band:
    """The interval at each percentile that all trials of at least three units resolve."""
    if len(units) < LEAST_UNITS:
        return []
    shortest = min(len(curve) for own in units for curve in own)
    means = np.array(
        [
            [math.fsum(math.log(curve[i]) for curve in own) / len(own) for i in range(shortest)]
            for own in units
            if all(curve[i] > 0 for curve in own for i in range(shortest))
        ]
    )
    if len(means) < LEAST_UNITS or not shortest:
        return []
    centre = means.mean(axis=0)
    half = special.stdtrit(len(means) - 1, 0.975) * means.std(axis=0, ddof=1) / len(means) ** 0.5
    return [
        (float(p), float(low), float(high))
        for p, low, high in zip(LADDER, np.exp(centre - half), np.exp(centre + half), strict=False)
    ]


def add_log(found: dict[LatencyKey, Latencies], log: HistogramLog) -> None:
    """Add a log's service and response times; RecordError if their resolution differs."""
    for tag, part in log.totals.items():
        operation, _, kind = tag.rpartition("-")
        if operation and kind in KINDS:
            found.setdefault((operation, KINDS[kind]), Latencies()).add(part)


def _with_all(parts: Mapping[LatencyKey, Latencies]) -> dict[LatencyKey, Latencies]:
    """These histograms, and per kind one over all operations."""
    together: dict[LatencyKey, Latencies] = {
        (ALL, kind): merged(part for (_, of), part in parts.items() if of == kind)
        for kind in KINDS.values()
    }
    return {**parts, **together}


def _distribution(
    condition: str, operation: str, kind: str, part: Latencies, band: Band
) -> Distribution:
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
            "band": band,
        }
    )
