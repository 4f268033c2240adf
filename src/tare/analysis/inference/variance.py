"""The ratio of the variances of a treatment and its baseline: is the treatment noisier?

The variance is that of log values inside a deployment, without what its block did to every
condition; for imported files, that of repetitions inside their condition. The F test is unsuitable:
with heavy tails its 95% interval holds the truth in 63 to 87% of cases. A jackknife of the log
variance (Miller 1968) kept 93 to 97%: docs/decisions/0006.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from tare.analysis.inference.multiplicity import benjamini_hochberg
from tare.analysis.inference.significance import PLAIN
from tare.analysis.model import VarianceRatio

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tare.analysis.inference.contrast_estimates import Rules, Samples
    from tare.analysis.inference.contrasts import Contrast, Contrasts
    from tare.analysis.inference.estimates import Logs
    from tare.analysis.inference.significance import SignificanceLevels

    Block = NDArray[np.float64]
    """Log values of one round: a row per condition, a column per block."""

ALPHA = 0.05
LEAST_DF = 4
"""Fewest degrees of freedom of the log-ratio's standard error: of both sides together where
repetitions are independent, blocks less rounds where blocks are shared."""
MOST_WEIGHT = 0.8
"""A single condition does not show what a block did to all."""
TINY = 1e-24
"""Variances below this are rounding of equal numbers."""


@dataclass(frozen=True)
class Spreads:
    """Two variances of log values, and the standard error of the log of their ratio."""

    baseline: float
    treatment: float
    se: float
    df: float
    trials: int
    method: str


def variances_of_samples(
    samples: Samples, contrasts: Contrasts
) -> Iterator[tuple[Contrast, Spreads]]:
    """Every contrast with at least two repetitions of some condition on both sides."""
    deviations = {name: _deviations(one.values) for name, one in samples.items()}
    for contrast in contrasts.of:
        sides = [
            [deviations[n] for n in dict.fromkeys(pair[i] for pair in contrast.cells)
             if n in deviations]
            for i in (0, 1)
        ]  # fmt: skip
        base, treated = (_jackknifed(side) for side in sides)
        if base is None or treated is None or base[2] + treated[2] < LEAST_DF:
            continue
        yield (
            contrast,
            Spreads(
                baseline=base[0],
                treatment=treated[0],
                se=math.sqrt(base[1] + treated[1]),
                df=base[2] + treated[2],
                trials=sum(len(one) for side in sides for one in side),
                method="variance of repetitions inside their condition; jackknife over "
                "repetitions, t interval of the log-ratio",
            ),
        )


def _deviations(values: Sequence[float]) -> NDArray[np.float64]:
    logs = np.log(np.asarray(values, dtype=np.float64))
    return np.asarray(logs - logs.mean())


def _jackknifed(groups: Sequence[NDArray[np.float64]]) -> tuple[float, float, int] | None:
    """Pooled variance, squared standard error of its log, and degrees of freedom."""
    long = [group for group in groups if len(group) > 1]
    df = sum(len(group) - 1 for group in long)
    if df < 2:
        return None
    whole = sum(float(group @ group) for group in long)
    if whole / df < TINY:
        return None
    # leaving one out takes n/(n-1) times its squared deviation from its group's sum of squares
    parts = np.concatenate([group**2 * len(group) / (len(group) - 1) for group in long])
    left = whole - parts
    if (left <= 0).any():
        return None
    return whole / df, _squared_se(np.log(left / (df - 1))), df


def _squared_se(left_out: NDArray[np.float64]) -> float:
    """Jackknife variance from the estimates with one value left out (Efron, Tibshirani, 11.5)."""
    n = len(left_out)
    return float((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())


def variances_in_blocks(
    logs: Logs, contrasts: Contrasts, rules: Rules
) -> Iterator[tuple[Contrast, Spreads]]:
    """Every contrast whose conditions were measured in enough common blocks."""
    kept: dict[tuple[str, tuple[str, ...]], tuple[dict[str, int], _Table] | None] = {}
    for contrast in contrasts.of:
        key = contrast.baseline, contrast.over
        if key not in kept:
            kept[key] = _table(logs, contrasts, contrast, rules)
        found = kept[key]
        if found is not None and contrast.treatment in found[0]:
            rows, table = found
            spreads = table.spreads(rows[contrast.treatment])
            if spreads is not None:
                yield contrast, spreads


class _Table:
    """A stratum's log values, reduced to the needs of variances and their jackknife.

    Attributes:
        blocks, rounds, cells: their numbers.
    """

    def __init__(self, rounds: Sequence[Sequence[Block]]) -> None:
        """Per round and averaged cell, conditions by blocks; the first is the baseline."""
        self.blocks = sum(cells[0].shape[1] for cells in rounds)
        self.rounds, self.cells = len(rounds), len(rounds[0])
        products, without = [], []
        for cells in rounds:
            centred = np.stack([cell - cell.mean(axis=1, keepdims=True) for cell in cells])
            each = np.einsum("cib,cjb->bij", centred, centred)
            products.append(each.sum(axis=0))
            # without one of n blocks, deviations from the new means have n/(n-1) of it less
            without.append(each * len(each) / (len(each) - 1))
        whole = np.sum(products, axis=0)
        df = self.cells * (self.blocks - self.rounds)
        self._variances = _variances(whole, df)
        self._left_out = _variances(whole - np.concatenate(without), max(df - self.cells, 1))

    def spreads(self, row: int) -> Spreads | None:
        """Variances of the baseline and one treatment."""
        df = self.blocks - self.rounds
        left = self._left_out[:, [0, row]]
        if df < LEAST_DF or min(self._variances[0], self._variances[row]) <= TINY:
            return None
        if (left <= TINY).any():
            return None
        removed = (
            "the blocks' own effects taken away"
            if len(self._variances) > 2
            else "with the blocks' own effects, which two conditions do not tell apart"
        )
        return Spreads(
            baseline=float(self._variances[0]),
            treatment=float(self._variances[row]),
            se=math.sqrt(_squared_se(np.log(left[:, 1] / left[:, 0]))),
            df=df,
            trials=2 * self.blocks * self.cells,
            method=f"variance inside a deployment, {removed}; jackknife over {self.blocks} "
            "blocks, t interval of the log-ratio",
        )


def _variances(products: NDArray[np.float64], df: int) -> NDArray[np.float64]:
    """Variance per condition of log value = condition in its round + block + error.

    A block's effect is the mean over conditions, first with equal weights, then with weights by
    the variances so found. The residuals of a condition with weight w have 1 - w of its variance
    (two steps of Fuller and Rao, Annals of Statistics 6, 1978). One step draws ratios towards 1;
    more steps and the unbiased estimator of Grubbs (1948) scatter too much.

    Args:
        products: sums over blocks of products of deviations from the condition's mean; the last
            two axes are conditions.
        df: blocks less means.
    """
    conditions = products.shape[-1]
    own = np.diagonal(products, axis1=-2, axis2=-1)
    if conditions == 2:  # the residuals from a mean of two are the same for both
        return np.asarray(own / df)
    weights = np.full(own.shape, 1 / conditions)
    found = own
    for _ in range(2):
        shared = np.einsum("...ij,...j->...i", products, weights)
        everybody = (shared * weights).sum(axis=-1, keepdims=True)
        squares = own - 2 * shared + everybody
        found = np.maximum(squares / df / (1 - weights), TINY)
        weights = 1 / found
        weights = np.minimum(weights / weights.sum(axis=-1, keepdims=True), MOST_WEIGHT)
    return np.asarray(found)


def _table(
    logs: Logs, contrasts: Contrasts, asked: Contrast, rules: Rules
) -> tuple[dict[str, int], _Table] | None:
    """The stratum of this contrast, and the rows of its conditions."""
    bases = [b for b, _ in asked.cells if b in logs]
    members: dict[str, list[str]] = {asked.baseline: bases}
    for other in contrasts.of:
        if (other.baseline, other.over) == (asked.baseline, asked.over):
            partner = dict(other.cells)
            own = [partner.get(base, "") for base in bases]
            if bases and all(name in logs for name in own):
                members[other.treatment] = own
    if len(members) < 2:
        return None
    names = [name for own in members.values() for name in own]
    common = sorted(set.intersection(*(set(logs[name]) for name in names)))
    rounds: dict[int, list[tuple[int, int]]] = {}
    for cell in common:
        rounds.setdefault(cell[0] if rules.by_deployment else 0, []).append(cell)
    table = [
        [np.array([[logs[own[i]][c] for c in cells] for own in members.values()])
         for i in range(len(bases))]
        for cells in rounds.values()
        if len(cells) > 1
    ]  # fmt: skip
    rows = {name: i for i, name in enumerate(members)}
    return (rows, _Table(table)) if table else None


def variance_ratios(
    found: Mapping[str, Sequence[tuple[Contrast, Spreads]]], levels: SignificanceLevels = PLAIN
) -> list[VarianceRatio]:
    """The answers, with p values adjusted over all of them except A/A controls.

    Args:
        found: metric to contrasts and their variances.
        levels: of the look at which the run ended.
    """
    flat = [(metric, *one) for metric, own in found.items() for one in own]
    ps = [levels.corrected_p(_p(spreads)) for _, _, spreads in flat]
    questions = [i for i, (_, contrast, _) in enumerate(flat) if not contrast.aa]
    adjusted: dict[int, float] = {}
    if questions:
        values = benjamini_hochberg([ps[i] for i in questions])
        adjusted = dict(zip(questions, map(float, values), strict=True))
    return [
        _ratio(metric, contrast, spreads, (ps[i], adjusted.get(i)), levels.interval)
        for i, (metric, contrast, spreads) in enumerate(flat)
    ]


def _p(one: Spreads) -> float:
    distance = abs(math.log(one.treatment / one.baseline)) / max(one.se, 1e-12)
    return 2 * float(special.stdtr(one.df, -distance))


def _ratio(
    metric: str,
    contrast: Contrast,
    one: Spreads,
    ps: tuple[float, float | None],
    level: float,
) -> VarianceRatio:
    p, adjusted = ps
    log = math.log(one.treatment / one.baseline)
    half = min(float(special.stdtrit(one.df, 0.5 + level / 2)) * one.se, 300.0)
    clear = (p if adjusted is None else adjusted) <= ALPHA
    return VarianceRatio(
        metric=metric,
        levels=contrast.levels,
        over=list(contrast.over),
        baseline=contrast.baseline,
        treatment=contrast.treatment,
        aa=contrast.aa,
        ratio=math.exp(log),
        ci=(math.exp(log - half), math.exp(log + half)),
        p=p,
        p_adjusted=adjusted,
        verdict=("noisier" if log > 0 else "quieter") if clear else "not told apart",
        baseline_cv=math.sqrt(one.baseline),
        treatment_cv=math.sqrt(one.treatment),
        trials=one.trials,
        method=f"{one.method}, {one.df:g} degrees of freedom.",
    )
