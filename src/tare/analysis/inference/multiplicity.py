"""P values adjusted for the number of comparisons in a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

Comparison = tuple[str, str, str]
"""(metric, baseline, treatment)."""


@dataclass(frozen=True)
class Adjusted:
    """An adjusted p value, the words for its method, and how many comparisons shared it."""

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

    The usual libraries are not used: statsmodels collects Python's garbage on every call, which
    took half of the time of an analysis, and scipy.stats takes half a second to import.
    """
    return {
        **_family(primary, _holm, "Holm over {} primary comparisons"),
        **_family(rest, benjamini_hochberg, "Benjamini-Hochberg over {} secondary comparisons"),
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


def benjamini_hochberg(values: ArrayLike) -> NDArray[np.float64]:
    """The k-th smallest of n is multiplied by n / k, and none is above a larger one (1995)."""
    ps = np.asarray(values, dtype=np.float64)
    order = np.argsort(ps, kind="stable")[::-1]
    steps = np.minimum.accumulate(ps[order] * len(ps) / np.arange(len(ps), 0, -1))
    adjusted = np.empty_like(ps)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted
