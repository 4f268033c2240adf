"""Averages of effects over cells: the point estimate that a study asks for, and its weights.

Reasons for each interval, and its coverage in simulation: docs/decisions/0006.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.inference.contrasts import CellPair, Contrast
    from tare.analysis.inference.estimates import Logs

How = Literal["mean-of-ratios", "ratio-of-means", "model"]
AS_PRINTED = 4
"""Decimals of a ratio in a table of relative changes: 0.01 percentage points."""
WORDS: Mapping[How, str] = {
    "mean-of-ratios": "mean of the ratios of arithmetic means",
    "ratio-of-means": "ratio of the means of all values together",
    "model": "mean of the log-ratios",
}


@dataclass(frozen=True)
class Typical:
    """One condition's values of one metric: arithmetic mean and mean of logs."""

    mean: float
    mean_log: float


@dataclass(frozen=True)
class Average:
    """One averaged effect, and how its logarithm reacts to a small change of each log value.

    Attributes:
        ratio: treatment over baseline.
        cells: pairs of conditions that entered; fewer than asked where some have no result.
        baseline, treatment: condition to its weight; each sums to 1.
        values: typical value of baseline and treatment, in the metric's unit.
    """

    ratio: float
    cells: tuple[CellPair, ...]
    baseline: dict[str, float]
    treatment: dict[str, float]
    values: tuple[float, float]


def average(contrast: Contrast, how: How, typical: Mapping[str, Typical]) -> Average | None:
    """Average the contrast's cells as asked.

    mean-of-ratios: the mean over cells of mean(treatment) / mean(baseline); Grambow et al. (2018),
    Tables 3 and 4. Where rows are averaged in turn (their "Read avg"), each row enters as such a
    table prints it, to 0.01 percentage points, so that a reader of the table gets the same mean.
    ratio-of-means: the mean over cells of mean(treatment), over that of mean(baseline).
    model: exp of the mean over cells of the difference of mean logs.

    All rows have the same weight, and so have the cells of a row. The weights are the derivatives
    of the log of the ratio (delta method).

    Returns:
        None where no cell has values on both sides.
    """
    rows = contrast.rows or (contrast.cells,)
    kept = [[pair for pair in row if all(name in typical for name in pair)] for row in rows]
    kept = [row for row in kept if row]
    if not kept:
        return None
    shares = [(pair, 1 / len(kept) / len(row)) for row in kept for pair in row]
    cells = tuple(pair for pair, _ in shares)
    if how == "model":
        log = sum(k * (typical[t].mean_log - typical[b].mean_log) for (b, t), k in shares)
        own = dict(shares)
        values = (
            math.exp(sum(k * typical[b].mean_log for (b, _), k in shares)),
            math.exp(sum(k * typical[t].mean_log for (_, t), k in shares)),
        )
        return Average(math.exp(log), cells, *_sides(own, own), values)
    base, treated = ({pair: k * typical[pair[side]].mean for pair, k in shares} for side in (0, 1))
    values = sum(base.values()), sum(treated.values())
    if how == "ratio-of-means":
        return Average(
            values[1] / values[0], cells, *_sides(_shared(base), _shared(treated)), values
        )
    parts = _shared({(b, t): k * typical[t].mean / typical[b].mean for (b, t), k in shares})
    return Average(_mean_of_rows(kept, typical), cells, *_sides(parts, parts), values)


def _mean_of_rows(rows: Sequence[Sequence[CellPair]], typical: Mapping[str, Typical]) -> float:
    means = [sum(typical[t].mean / typical[b].mean for b, t in row) / len(row) for row in rows]
    if len(means) == 1:
        return means[0]
    return sum(round(mean, AS_PRINTED) for mean in means) / len(means)


def _shared(parts: Mapping[CellPair, float]) -> dict[CellPair, float]:
    total = sum(parts.values())
    return {pair: part / total for pair, part in parts.items()}


def _sides(
    base: Mapping[CellPair, float], treated: Mapping[CellPair, float]
) -> tuple[dict[str, float], dict[str, float]]:
    baseline: dict[str, float] = {}
    treatment: dict[str, float] = {}
    for (name, _), weight in base.items():
        baseline[name] = baseline.get(name, 0.0) + weight
    for (_, name), weight in treated.items():
        treatment[name] = treatment.get(name, 0.0) + weight
    return baseline, treatment


def averaged_logs(logs: Logs, weights: Mapping[str, Mapping[str, float]]) -> Logs:
    """The weighted mean log value in each block, of every set of conditions.

    A block without a value of some condition is left out: a mean over the other conditions would
    move with what is missing.

    Args:
        weights: name of the average to its conditions' weights.
    """
    found: Logs = {}
    for name, parts in weights.items():
        own = [logs.get(condition, {}) for condition in parts]
        blocks = set.intersection(*(set(cells) for cells in own))
        found[name] = {
            cell: sum(w * cells[cell] for w, cells in zip(parts.values(), own, strict=True))
            for cell in sorted(blocks)
        }
    return found
