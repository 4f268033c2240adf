"""P values adjusted for how many comparisons a study makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import false_discovery_control

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

Comparison = tuple[str, str, str]
"""(metric, baseline, treatment)."""


@dataclass(frozen=True)
class Adjusted:
    """An adjusted p value, the words that say how, and how many comparisons shared it."""

    p: float
    how: str
    comparisons: int


def adjust(
    primary: Mapping[Comparison, float], rest: Mapping[Comparison, float]
) -> dict[Comparison, Adjusted]:
    """Holm over all primary comparisons together, Benjamini-Hochberg over all others.

    Holm (1979) bounds the chance of any false alarm among the primary ones; Benjamini and Hochberg
    (1995) bound the share of false alarms among the differences found in the rest.

    Args:
        primary, rest: comparison to its p value. Comparisons of identical conditions do not
            belong here: they are controls, not questions.

    The usual library (statsmodels) collects Python's garbage on every call, which took half of the
    time of an analysis.
    """
    return {
        **_family(primary, _holm, "Holm over {} primary comparisons"),
        **_family(rest, _benjamini_hochberg, "Benjamini-Hochberg over {} secondary comparisons"),
    }


def _family(
    values: Mapping[Comparison, float],
    method: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    words: str,
) -> dict[Comparison, Adjusted]:
    if not values:
        return {}
    adjusted = method(np.array(list(values.values())))
    how = words.format(len(values))
    return {
        key: Adjusted(float(p), how, len(values)) for key, p in zip(values, adjusted, strict=True)
    }


def _holm(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The k-th smallest of n is multiplied by n - k + 1, and none is below a smaller one."""
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _benjamini_hochberg(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(false_discovery_control(values, method="bh"), dtype=np.float64)
