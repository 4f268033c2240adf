"""Bootstrap intervals, deployment then trial: a cross-check that assumes no distribution.

Every draw is from a fixed seed, so that the same records give the same intervals. Draws are made
once per size and shifted against each other where they must be independent.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.inference.estimates import by_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tare.analysis.inference.averages import Average, How
    from tare.analysis.inference.estimates import Cell
    from tare.analysis.inference.independent import Sample

RESAMPLES = 10_000
SEED = 1
LEVEL = 0.95
SHIFT = 977
"""A prime: rows this far apart, or any few multiples of it, are different draws."""


def hierarchical(pairs: Mapping[Cell, float], *, by_deployment: bool) -> tuple[float, float]:
    """95% percentile interval of the mean log-ratio: rounds are drawn, then blocks inside them.

    Args:
        pairs: (round, block) to log-ratio.
        by_deployment: a round is one deployment; else every block is a unit of its own.
    """
    units = list(by_unit(pairs, by_deployment=by_deployment).values())
    chosen = _choices(len(units))
    total = np.zeros(RESAMPLES)
    if all(len(unit) == 1 for unit in units):  # nothing is drawn inside them
        values = np.array(units).ravel()
        for slot in range(len(units)):
            total += values[chosen[slot]]
        return _percentiles(total / len(units))
    bank = np.stack([np.roll(_means(unit), SHIFT * i) for i, unit in enumerate(units)])
    rows = np.arange(RESAMPLES)
    for slot in range(len(units)):
        shifted = (rows + SHIFT * len(units) * slot) % RESAMPLES
        total += bank[chosen[slot], shifted]
    return _percentiles(total / len(units))


class Resampled:
    """The resampled means of independent repetitions, one condition at a time, kept for reuse."""

    def __init__(self, samples: Mapping[str, Sample]) -> None:
        self._samples = samples
        self._place = {name: i for i, name in enumerate(samples)}
        self._kept: dict[tuple[str, bool], NDArray[np.float64]] = {}

    def interval(self, found: Average, how: How) -> tuple[float, float]:
        """95% percentile interval of the log of an average, resampled inside each condition."""
        if how == "model":
            log = self._sum(found.treatment, logs=True) - self._sum(found.baseline, logs=True)
            return _percentiles(log)
        if how == "ratio-of-means":
            ratio = self._weighted(found.treatment) / self._weighted(found.baseline)
            return _percentiles(np.log(ratio * found.ratio))
        total = np.zeros(RESAMPLES)
        for base, treated in found.cells:
            share = found.treatment[treated] * found.ratio
            share /= self._samples[treated].mean / self._samples[base].mean
            total += share * self._means(treated) / self._means(base)
        return _percentiles(np.log(total))

    def _sum(self, weights: Mapping[str, float], *, logs: bool) -> NDArray[np.float64]:
        total = np.zeros(RESAMPLES)
        for name, weight in weights.items():
            total += weight * self._means(name, logs=logs)
        return total

    def _weighted(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        """Resampled mean over cells, relative to the observed one."""
        total = np.zeros(RESAMPLES)
        for name, weight in weights.items():
            total += weight * self._means(name) / self._samples[name].mean
        return total

    def _means(self, name: str, *, logs: bool = False) -> NDArray[np.float64]:
        key = name, logs
        if key not in self._kept:
            values = np.array(self._samples[name].values)
            means = _means(np.log(values) if logs else values)
            self._kept[key] = np.roll(means, SHIFT * self._place[name])
        return self._kept[key]


def _means(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    return _counts(len(values)) @ np.asarray(values, dtype=np.float64)


@lru_cache(maxsize=64)
def _counts(n: int) -> NDArray[np.float64]:
    """How often each of n values is drawn, as a share, per resample."""
    rng = np.random.default_rng([SEED, n])
    return rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) / n


@lru_cache(maxsize=64)
def _choices(n: int) -> NDArray[np.int64]:
    """Which of n units is drawn into each slot, per resample: slots by resamples."""
    drawn = np.random.default_rng([SEED, n, n]).integers(0, n, size=(RESAMPLES, n))
    return np.ascontiguousarray(drawn.T)


def _percentiles(values: NDArray[np.float64]) -> tuple[float, float]:
    beyond = round((1 - LEVEL) / 2 * RESAMPLES)
    ordered = np.partition(values, (beyond - 1, RESAMPLES - beyond))
    return float(ordered[beyond - 1]), float(ordered[RESAMPLES - beyond])
