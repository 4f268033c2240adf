"""Counts of trials per operation, over their deployments."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.amounts import Amount
from tare.analysis.catalogue import SERVICE_DEMAND
from tare.analysis.why.resources import calls_per_operation, operations_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.trials import Trial


def over_deployments(
    trials: Sequence[Trial], counts: Sequence[Mapping[str, float]], name: str
) -> Amount | None:
    """The mean over the deployments, which are the units of its error; None where fewer than two
    counted it.

    Args:
        counts: of each trial.
    """
    own: dict[str, list[float]] = defaultdict(list)
    for trial, found in zip(trials, counts, strict=True):
        if name in found:
            own[trial.manifest.deployment].append(found[name])
    means = [float(np.mean(values)) for values in own.values()]
    if len(means) < 2:
        return None
    error = float(np.std(means, ddof=1)) / math.sqrt(len(means))
    return Amount(float(np.mean(means)), error, len(means) - 1)


def counts_per_operation(trials: Sequence[Trial]) -> dict[str, Amount]:
    """Name, as in the records, to the count of at least two deployments: from the measured slices,
    and system calls from the warm-up's slices."""
    each = [_of_trial(one) for one in trials]
    names = sorted({name for one in each for name in one})
    found = {name: over_deployments(trials, each, name) for name in names}
    return {name: amount for name, amount in found.items() if amount is not None}


def why_no_calls(trials: Sequence[Trial]) -> str:
    """Why system calls were not counted, from the first trial that has a reason."""
    told = (one.manifest.slices.why_no_calls for one in trials if one.manifest.slices is not None)
    return next((why for why in told if why), "")


def counting_us(trials: Sequence[Trial]) -> float | None:
    """How much more an operation cost in the slices of the warm-up, in which system calls were
    counted, than in the measured slices: microseconds, the mean over the trials that counted."""
    dearer = [
        one.manifest.slices.calls.demand_us - one.values[SERVICE_DEMAND]
        for one in trials
        if one.manifest.slices is not None
        and one.manifest.slices.calls is not None
        and SERVICE_DEMAND in one.values
    ]
    return float(np.mean(dearer)) if dearer else None


def _of_trial(trial: Trial) -> dict[str, float]:
    slices, operations = trial.manifest.slices, operations_of(trial.manifest)
    if slices is None or operations <= 0:
        return {}
    counted = {name: value / operations for name, value in slices.counts.items()}
    return counted | calls_per_operation(trial.manifest)
