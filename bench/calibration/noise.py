"""Ten kinds of noise for simulated measurements, from textbook to unpleasant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

BLOCK_SD = 2.0
"""Sd of what all conditions of a block share, in units of the CV: it must cancel."""
SLOW, SLOW_SHARE = 0.20, 0.03
"""An occasional slow trial: a fifth less throughput, in 3 of 100 trials, whatever the CV."""
OUTLIER_SHARE = 0.05
OUTLIER_MEDIAN, OUTLIER_SIGMA = 4.0, 0.5
"""Outliers lie lognormally below, by a median of 4 CV (within 1.5 to 10 CV nearly always)."""
MACHINE_RHO, STATE_RHO = 0.7, 0.5
"""AR(1) coefficients: from one trial to the next, and from one block to the next."""
DRIFT = 4.0
"""Change of everything from the first trial of a run to the last, in units of the CV."""


@dataclass(frozen=True)
class Kind:
    """One kind of noise.

    Attributes:
        words: for the page.
        life: share of the variance that belongs to the deployment, where one serves many trials.
    """

    name: str
    words: str
    life: float = 0.25


IN_TURN = Kind(
    "drift, in turn", "the same drift, and all trials of one condition follow each other", 0.25
)
"""Only imported files are measured so; Tare shuffles the conditions inside each block."""
KINDS = [
    Kind("normal", "independent, lognormal; a quarter of the variance between deployments"),
    Kind("related", "lognormal; 80% of the variance lies between deployments", life=0.8),
    Kind("drift", "normal, and the machine drifts by 4 CV over the run"),
    IN_TURN,
    Kind("machine AR(1)", "the machine's state carries over from trial to trial (0.7)"),
    Kind(
        "cluster AR(1)", "a cluster's state carries over from each of its blocks to the next (0.5)"
    ),
    Kind("condition AR(1)", "the same, and the state outlives the clusters of a condition"),
    Kind("t3", "Student t with 3 degrees of freedom, of the same sd"),
    Kind("outliers", "normal, and 5% of the trials lie lognormally below, by about 4 CV"),
    Kind("slow trials", "normal, and 3% of the trials are 20% slower, whatever the CV"),
]


def draw(
    kind: Kind,
    cv: float,
    shape: tuple[int, ...],
    rng: np.random.Generator,
    block_sd: float = BLOCK_SD,
) -> Values:
    """Log values around 0 of whole studies with no true effect.

    Args:
        cv: sd of a trial's log value, without what its block shares and without outliers.
        shape: (studies, conditions, rounds, blocks); one deployment of each condition serves
            all blocks of a round.
        block_sd: of what all conditions of a block share, in units of the CV.
    """
    studies, _, rounds, blocks = shape
    life = rng.normal(0, math.sqrt(kind.life), (*shape[:3], 1))
    own = math.sqrt(1 - kind.life) * _own(kind, shape, rng)
    shared = rng.normal(0, block_sd, (studies, 1, rounds, blocks))
    values = cv * (life + own + shared)
    if kind.name == "slow trials":
        values += np.log1p(-SLOW) * (rng.random(shape) < SLOW_SHARE)
    return values


def _own(kind: Kind, shape: tuple[int, ...], rng: np.random.Generator) -> Values:
    """Every trial's own noise, of sd 1 (with drift and outliers: beyond that)."""
    normal = rng.normal(0, 1, shape)
    if kind.name == "t3":
        heavy: Values = rng.standard_t(3, shape) / math.sqrt(3)
        return heavy
    if kind.name == "outliers":
        sizes = np.exp(rng.normal(np.log(OUTLIER_MEDIAN), OUTLIER_SIGMA, shape))
        low: Values = normal - sizes * (rng.random(shape) < OUTLIER_SHARE)
        return low
    if kind.name == "drift":
        drifted: Values = normal + DRIFT * _clock(shape, rng) / (math.prod(shape[1:]) - 1)
        return drifted
    if kind is IN_TURN:
        in_turn: Values = normal + np.linspace(0, DRIFT, math.prod(shape[1:])).reshape(shape[1:])
        return in_turn
    if kind.name == "machine AR(1)":
        series = _ar1(normal.reshape(shape[0], -1), MACHINE_RHO)
        places = _clock(shape, rng).reshape(shape[0], -1)
        in_order: Values = np.take_along_axis(series, places, axis=1)
        return in_order.reshape(shape)
    if kind.name == "cluster AR(1)":
        return _ar1(normal, STATE_RHO)
    if kind.name == "condition AR(1)":
        return _ar1(normal.reshape(*shape[:2], -1), STATE_RHO).reshape(shape)
    return normal


def _clock(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.intp]:
    """Place of every trial in its run, from 0: block after block, shuffled inside each."""
    _, conditions, rounds, blocks = shape
    positions = rng.random(shape).argsort(axis=1)
    return positions + conditions * np.arange(rounds * blocks).reshape(rounds, blocks)


def _ar1(innovations: Values, rho: float) -> Values:
    """Stationary first-order autoregression of sd 1 along the last axis."""
    series = np.empty_like(innovations)
    series[..., 0] = innovations[..., 0]
    for i in range(1, innovations.shape[-1]):
        series[..., i] = rho * series[..., i - 1] + math.sqrt(1 - rho**2) * innovations[..., i]
    return series
