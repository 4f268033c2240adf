"""P values adjusted for how many comparisons a study makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from statsmodels.stats.multitest import multipletests

from tare.analysis.metrics import margin_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PRIMARY = ("throughput", "all.p99")
"""Primary endpoints of a study that names none, where a margin is declared for them."""


Comparison = tuple[str, str, str]
"""(metric, baseline, treatment)."""


@dataclass(frozen=True)
class Adjusted:
    """An adjusted p value, the words that say how, and how many comparisons shared it."""

    p: float
    how: str
    comparisons: int


def primary_endpoints(margins: Mapping[str, float], named: Sequence[str] = ()) -> list[str]:
    """The primary endpoints: those that the study names, else the usual ones with a margin."""
    return list(named) or [name for name in PRIMARY if margin_of(name, margins) is not None]


def adjust(
    primary: Mapping[Comparison, float], rest: Mapping[Comparison, float]
) -> dict[Comparison, Adjusted]:
    """Holm over all primary comparisons together, Benjamini-Hochberg over all others.

    Holm (1979) bounds the chance of any false alarm among the primary ones; Benjamini and Hochberg
    (1995) bound the share of false alarms among the differences found in the rest.

    Args:
        primary, rest: comparison to its p value. Comparisons of identical conditions do not
            belong here: they are controls, not questions.
    """
    return {
        **_family(primary, "holm", "Holm over {} primary comparisons"),
        **_family(rest, "fdr_bh", "Benjamini-Hochberg over {} secondary comparisons"),
    }


def _family(
    values: Mapping[Comparison, float], method: str, words: str
) -> dict[Comparison, Adjusted]:
    if not values:
        return {}
    adjusted: Sequence[float] = multipletests(list(values.values()), method=method)[1]
    how = words.format(len(values))
    return {
        key: Adjusted(float(p), how, len(values)) for key, p in zip(values, adjusted, strict=True)
    }
