"""Effects from independent repetitions: no blocks, every repetition a unit of its own.

Files of other tools come without blocks: a slow run says nothing of another run. The variance is
that of repetitions within their condition. Reasons for this choice: docs/decisions/0006.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy.special import fdtrc, stdtrit

from tare.analysis.inference.averages import WORDS, Typical
from tare.analysis.inference.estimates import FAR_NOISIER, NOISIER, Estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.inference.averages import Average, How


LEAST_OWN = 3
"""With so many repetitions of every compared condition, each condition's own variance is used. With
two, the interval would be a quarter too wide (coverage 97.5% and more in simulation)."""


@dataclass(frozen=True)
class Sample:
    """The independent repetitions of one condition on one metric.

    Attributes:
        values: one per repetition, all above 0.
        mean, mean_log: arithmetic mean; mean of the logs.
        variance: of the log values, n - 1 in the denominator; 0 for a single one.
    """

    values: tuple[float, ...]
    mean: float
    mean_log: float
    variance: float

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def df(self) -> int:
        return self.n - 1

    @property
    def typical(self) -> Typical:
        return Typical(self.mean, self.mean_log)


def sample(values: Sequence[float]) -> Sample:
    """Describe repetitions, all above 0."""
    n = len(values)
    logs = [math.log(value) for value in values]
    mean_log = sum(logs) / n
    spread = sum((y - mean_log) ** 2 for y in logs) / (n - 1) if n > 1 else 0.0
    return Sample(tuple(values), sum(values) / n, mean_log, spread)


@dataclass(frozen=True)
class StandardError:
    """A standard error and its degrees of freedom, from either kind of variance."""

    se: float
    df: float

    @property
    def half(self) -> float:
        """Half the width of the 95% interval."""
        return self.se * float(stdtrit(self.df, 0.975))


def estimate_independent(
    found: Average,
    samples: Mapping[str, Sample],
    stratum: Sequence[str],
    how: How,
    asked: int,
    served: Mapping[str, frozenset[str]] | None = None,
) -> Estimate | None:
    """The interval of an average (or a single pair), by the delta method on the log scale.

    Each condition's own variance counts, with degrees of freedom after Welch and Satterthwaite.
    Where a condition has fewer than three repetitions, the variance is pooled over the stratum
    instead, without conditions far noisier than the rest (F test, 0.1%). If the compared conditions
    are noisier than the rest (5%), the wider of both intervals is taken. Nothing is pooled where
    the repetitions are deployments, because conditions may share them.

    Args:
        samples: condition to its repetitions.
        stratum: conditions that are compared with the same baseline, and the baseline.
        asked: cells that the study asked for.
        served: condition to its deployments, where these are the repetitions. Conditions of one
            side that share deployments err together, to the extent of the worst case.

    Returns:
        None where a side has fewer than two repetitions in all, or no variance can be estimated.
    """
    weights = [(samples[n], w) for n, w in (*found.baseline.items(), *found.treatment.items())]
    sides = (found.baseline, found.treatment)
    if any(sum(samples[name].n for name in side) < 2 for side in sides):
        return None
    welch = _welch(weights)
    chosen, groups = welch, 0
    if served:
        chosen = _related(sides, samples, served)
    elif min(one.n for one, _ in weights) < LEAST_OWN:
        own = {*found.baseline, *found.treatment}
        pooled, members, noisier = _pooled(weights, samples, own, stratum)
        if pooled is not None and not (noisier and welch and welch.half > pooled.half):
            chosen, groups = pooled, members
    if chosen is None:
        return None
    units = min(one.n for one, _ in weights)
    return Estimate(
        log_ratio=math.log(found.ratio),
        se=chosen.se,
        df=chosen.df,
        units=units,
        unit="repetition",
        slope=chosen.df / max(units - 1, 1),
        unpooled=(welch.se, welch.df) if welch else None,
        pairs={},
        conditional=False,
        method=_words(chosen, found, how, [one.n for one, _ in weights], asked, groups)
        + _sharing(sides, served or {}),
    )


def summed(parts: Sequence[tuple[float, float]]) -> StandardError:
    """Standard error of a sum of independent (variance, df) parts, after Satterthwaite (1946)."""
    total = sum(part for part, _ in parts)
    if total <= 0:
        return StandardError(0.0, float(sum(df for _, df in parts)))
    return StandardError(math.sqrt(total), total**2 / sum(part**2 / df for part, df in parts))


def _welch(weights: Sequence[tuple[Sample, float]]) -> StandardError | None:
    """Each condition's own variance; degrees of freedom after Welch (1947) and Satterthwaite."""
    if any(one.n < 2 for one, _ in weights):
        return None
    parts = [(w * w * one.variance / one.n, one.df) for one, w in weights]
    return summed(parts)


def _related(
    sides: Sequence[Mapping[str, float]],
    samples: Mapping[str, Sample],
    served: Mapping[str, frozenset[str]],
) -> StandardError | None:
    """As `_welch`, but standard errors instead of variances add up where deployments are shared.
    This is an upper bound, reached when a deployment adds the same to all of its conditions."""
    groups: dict[tuple[int, object], list[tuple[float, int]]] = {}
    for side, weights in enumerate(sides):
        for name, weight in weights.items():
            one = samples[name]
            if one.n < 2:
                return None
            error = abs(weight) * math.sqrt(one.variance / one.n)
            groups.setdefault((side, served.get(name, name)), []).append((error, one.df))
    parts = [(sum(e for e, _ in own) ** 2, min(df for _, df in own)) for own in groups.values()]
    return summed(parts)


def _pooled(
    weights: Sequence[tuple[Sample, float]],
    samples: Mapping[str, Sample],
    own: set[str],
    stratum: Sequence[str],
) -> tuple[StandardError | None, int, bool]:
    """Standard error from the pooled variance, the conditions in it, and whether they vary less
    than the compared ones. None where the stratum holds nothing else and both could differ."""
    ss = {n: samples[n].variance * samples[n].df for n in stratum if n in samples}
    total, df = sum(ss.values()), sum(samples[n].df for n in ss)
    kept = set()
    for name, part in ss.items():
        one, rest = samples[name].df, df - samples[name].df
        far = one > 0 and rest > 0 and _above(part, one, total - part, rest) < FAR_NOISIER
        if not far or name in own:
            kept.add(name)
    rest_df = sum(samples[n].df for n in kept - own)
    if rest_df == 0 and all(one.n > 1 for one, _ in weights):
        return None, 0, False
    own_ss, own_df = sum(ss[n] for n in own), sum(samples[n].df for n in own)
    rest_ss = sum(ss[n] for n in kept - own)
    if own_df + rest_df == 0:
        return None, 0, False
    noisier = own_df > 0 and rest_df > 0 and _above(own_ss, own_df, rest_ss, rest_df) < NOISIER
    variance = (own_ss + rest_ss) / (own_df + rest_df)
    se = math.sqrt(variance * sum(w * w / one.n for one, w in weights))
    return StandardError(se, float(own_df + rest_df)), len(kept), noisier


def _above(ss: float, df: int, rest_ss: float, rest_df: int) -> float:
    """P value of the F test that this variance is no larger than that of the rest."""
    if rest_ss <= 0:
        return 1.0 if ss <= 0 else 0.0
    return float(fdtrc(df, rest_df, ss / df / (rest_ss / rest_df)))


def _sharing(sides: Sequence[Mapping[str, float]], served: Mapping[str, frozenset[str]]) -> str:
    """A sentence where conditions of one side share deployments."""
    for side in sides:
        lives = [served[name] for name in side if name in served]
        if len(set(lives)) < len(lives):
            return (
                " Where averaged conditions share deployments, their standard errors are added: "
                "the interval is as wide as it can be or wider."
            )
    return ""


def _words(
    chosen: StandardError,
    found: Average,
    how: How,
    sizes: Sequence[int],
    asked: int,
    groups: int,
) -> str:
    """One sentence on how the interval was made."""
    cells = len(found.cells)
    units, what = min(sizes), ""
    if asked > 1:
        of = f"{cells}" if cells == asked else f"{cells} of {asked}"
        what = f"{WORDS[how]} over {of} cells, delta method on the log scale; "
    how_many = f"{units}" if all(n == units for n in sizes) else f"{units} to {max(sizes)}"
    what += (
        f"t interval over {how_many} independent repetitions per condition, "
        f"{chosen.df:.3g} degrees of freedom"
    )
    if groups:
        return f"{what}, variance pooled over {groups} conditions."
    return f"{what}, from each condition's own variance (Welch)."
