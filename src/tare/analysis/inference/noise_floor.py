"""The noise floor: how far apart identical conditions (A/A) came out, and what that hides."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.inference.estimates import by_unit
from tare.analysis.model import NoiseFloor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.inference.estimates import Logs
    from tare.analysis.model import Analysis, Effect

PERCENTILE = 95.0


def noise_floor(
    metric: str,
    twins: tuple[str, str],
    logs: Logs,
    margin: float | None,
    *,
    by_deployment: bool,
) -> NoiseFloor | None:
    """The 95th percentile of |log-ratio| over the pairs of a condition and its repetition.

    Args:
        twins: the condition and the same setup under another name.
        margin: declared margin as a fraction.
        by_deployment: one life of a cluster serves all blocks of its round; else a round's mean is
            over several lives, and gives no floor of deployments.

    Returns:
        None where no block holds both.
    """
    first, second = (logs.get(name, {}) for name in twins)
    pairs = {cell: second[cell] - first[cell] for cell in sorted(first.keys() & second.keys())}
    if not pairs:
        return None
    floor = _floor(list(pairs.values()))
    rounds = [float(np.mean(own)) for own in by_unit(pairs, by_deployment=True).values()]
    return NoiseFloor(
        metric=metric,
        conditions=twins,
        floor=floor,
        deployment_floor=_floor(rounds) if by_deployment and len(rounds) > 1 else None,
        exceeds_margin=margin is not None and floor > margin,
    )


def hides_answer(floor: NoiseFloor, effects: Sequence[Effect]) -> bool:
    """Whether a comparison of its metric is undecided, or decided by blocks of few deployments.

    The reason is then that single blocks and deployments differ by more than the margin.
    """
    return any(not outdone(one) for one in effects if one.metric == floor.metric and not one.aa)


def hiding_floor(analysis: Analysis, effect: Effect) -> float | None:
    """The noise floor, as a change, if it makes a decided effect doubtful; else None.

    It does where the effect rests on blocks and is smaller than the floor. Of several A/A pairs the
    widest counts. Two ways into one server share it, so the noise between servers is not theirs.
    widest counts. Two ways into one server share it, so the noise between servers is not theirs.
    """
    if outdone(effect) or _one_server(analysis, effect):
        return None
    floor = max((f.floor for f in analysis.noise_floor if f.metric == effect.metric), default=None)
    if floor is None or effect.ratio <= 0 or not math.isfinite(effect.ratio):
        return None
    return floor if abs(math.log(effect.ratio)) < math.log1p(floor) else None


def _one_server(analysis: Analysis, effect: Effect) -> bool:
    """Whether the same deployments served both conditions."""
    served: dict[str, set[str]] = {effect.baseline: set(), effect.treatment: set()}
    for trial in analysis.trials:
        if trial.condition in served and trial.deployment:
            served[trial.condition].add(trial.deployment)
    first, second = served[effect.baseline], served[effect.treatment]
    return bool(first) and first == second


def outdone(effect: Effect) -> bool:
    """Whether averages have outdone the noise: an interval over deployments decides.

    A floor is how far single blocks, or single deployments, of one setup lie apart. An average over
    deployments can differ clearly from zero and still be smaller than the floor.
    """
    return effect.verdict != "inconclusive" and effect.unit_of_analysis == "deployment"


def _floor(log_ratios: Sequence[float]) -> float:
    return math.expm1(float(np.percentile(np.abs(log_ratios), PERCENTILE)))
