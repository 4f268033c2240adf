"""Compares every client with tare-load: ratios within the same block, with intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from bench.load.measure import Run

CONFIDENCE = 0.95
METRICS = (
    "per_second",
    "cpu_us",
    "cpu_us_whole",
    "first_second",
    "rss_mb",
    "p50_us",
    "p99_us",
    "server_cpu_us",
)


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval; None where fewer than two pairs were there."""

    estimate: float
    low: float | None
    high: float | None


def ratio(over: Sequence[float], under: Sequence[float]) -> Ratio:
    """The geometric mean of paired ratios, with Student's t interval of the logarithms."""
    logs = np.log(np.asarray(over, float) / np.asarray(under, float))
    mean = float(logs.mean())
    if logs.size < 2:
        return Ratio(math.exp(mean), None, None)
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, logs.size - 1) * stats.sem(logs))
    return Ratio(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach))


def values(runs: Sequence[Run], metric: str) -> list[float] | None:
    """One metric of all runs; None if the client does not have it."""
    found = [getattr(run, metric) for run in runs]
    return None if any(value is None for value in found) else [float(value) for value in found]


def medians(runs: Mapping[str, Sequence[Run]]) -> dict[str, dict[str, float | None]]:
    """Per client and metric the median over its runs."""
    return {
        name: {
            metric: None if (found := values(own, metric)) is None else statistics.median(found)
            for metric in METRICS
        }
        for name, own in runs.items()
    }


def ratios(runs: Mapping[str, Sequence[Run]], base: str) -> dict[str, dict[str, Ratio | None]]:
    """Per client and metric its ratio to the base client, paired by block."""
    table: dict[str, dict[str, Ratio | None]] = {}
    for name, own in runs.items():
        table[name] = {}
        for metric in METRICS:
            over, under = values(own, metric), values(runs[base], metric)
            table[name][metric] = None if over is None or under is None else ratio(over, under)
    return table
