"""How a run's time would have been shared best between making servers and driving them.

Identical deployments differ for two reasons. The noise of slices falls with one over the time that
each deployment is driven; the differences between deployments themselves do not. A round also
costs the time in which servers are made and warmed, whatever is measured then. With both parts
known, the number of rounds that makes intervals narrowest in the same time is known, too. This is
the allocation of two-stage sampling by cost. Source: W. G. Cochran, Sampling Techniques, 3rd
edition (1977), section 10.6.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from scipy import special

from tare.analysis.ending import round_seconds, round_starts
from tare.analysis.model.ending import Allocation
from tare.analysis.slices import LEAST_PASSES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tare.analysis.model import IdenticalSpread
    from tare.analysis.trials import Trial

LEAST_DF = 8
"""Degrees of freedom from which an sd between deployments is worth planning with."""
WORTH = 0.9
"""A half-width above this share of the run's own is no reason to change."""
ROUNDS = range(3, 61)


def allocation(
    trials: Sequence[Trial],
    identical: Sequence[IdenticalSpread],
    primary: Collection[str],
    measures: Mapping[str, float],
) -> Allocation | None:
    """The rounds that would have told most in the time that the run took.

    The half-width between deployments decides, for the primary metric that gains least. Where some
    deployments serve several conditions, it is multiplied by the half-width inside a deployment.
    None where the run was not in slices, too little is known, or little is gained.

    Args:
        identical: how far identical deployments differed.
        primary: metrics that decide.
        measures: each condition's load.measure.
    """
    spreads = _known(identical, primary)
    trials = [trial for trial in trials if trial.done]
    starts = round_starts(trials)
    driven = _driven_s(trials)
    if not spreads or len(starts) < min(ROUNDS) or not driven:
        return None
    round_s = round_seconds(starts, trials)
    passes = min(len(trial.slices) for trial in trials)
    now = len(starts)
    names = {trial.manifest.condition for trial in trials}
    lengths = {seconds for name, seconds in measures.items() if name in names}
    options = []
    for rounds, share in _options(now, round_s, driven):
        if share * passes < LEAST_PASSES:
            continue
        apart, metric = max((_apart(one, now, rounds, share), one.metric) for one in spreads)
        options.append(
            Allocation(
                metric=metric,
                now=now,
                rounds=rounds,
                share=share,
                measure_s=float(f"{share * min(lengths):.2g}") if len(lengths) == 1 else None,
                apart=apart,
                inside=half_width(0.0, 1 / share, rounds) / half_width(0.0, 1.0, now),
            )
        )
    several = len({(t.cell, t.manifest.deployment) for t in trials}) < len(trials)

    def gained(one: Allocation) -> float:
        return one.apart * one.inside if several else one.apart

    best = min(options, key=gained, default=None)
    return best if best is not None and gained(best) < WORTH else None


def _known(identical: Sequence[IdenticalSpread], primary: Collection[str]) -> list[IdenticalSpread]:
    """The spreads of primary metrics that were measured in slices and are worth planning with;
    without any, the spread of the first metric that was measured in slices."""
    known = [s for s in identical if s.unit == "deployment" and s.slices is not None]
    asked = [s for s in known if s.metric in primary] or known[:1]
    return [s for s in asked if s.df >= LEAST_DF and (s.sd or s.slices)]


def _apart(spread: IdenticalSpread, now: int, rounds: int, share: float) -> float:
    """The half-width between deployments with other rounds, over the run's half-width."""
    within = (spread.slices or 0.0) ** 2
    between = max(spread.sd**2 - within, 0.0)
    return half_width(between, within / share, rounds) / half_width(between, within, now)


def _options(now: int, round_s: float, driven_s: float) -> Iterator[tuple[int, float]]:
    """Numbers of rounds that take as long as the run, each with its share of a round's driving."""
    for rounds in ROUNDS:
        share = (now * round_s / rounds - (round_s - driven_s)) / driven_s
        if share > 0:
            yield rounds, share


def half_width(between: float, within: float, rounds: int) -> float:
    """Half-width of a difference's 95% interval, up to a factor, from a deployment's variances."""
    t = float(special.stdtrit(rounds - 1, 0.975))
    return t * math.sqrt((between + within) / rounds)


def _driven_s(trials: Sequence[Trial]) -> float:
    """Mean seconds of a round from its blocks' first slices to their last."""
    times: dict[tuple[int, int], list[float]] = defaultdict(list)
    for trial in trials:
        times[trial.cell] += [row.unix for row in trial.slices]
    spans = [max(own) - min(own) for own in times.values() if own]
    return sum(spans) / len({round_ for round_, _ in times}) if times else 0.0
