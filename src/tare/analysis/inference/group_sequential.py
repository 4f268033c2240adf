"""Looks at a run before its end: the error that each may spend, and the level of its test.

Reasons for this spending, and its error rates in simulation: docs/decisions/0017. Sources:
Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70, 1983 (spending);
Armitage, McPherson and Rowe, Repeated significance tests on accumulating data, J. R. Statist. Soc.
A 132, 1969 (the integration); Jennison and Turnbull, Group Sequential Methods, 2000 (repeated
intervals, chapter 9; levels applied to t tests, section 3.8); Maurer and Bretz, Multiple testing in
group sequential trials, Statistics in Biopharmaceutical Research 5, 2013 (several comparisons).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Sides = Literal[1, 2]
"""1: only large values count against the null hypothesis; 2: large and small ones."""

NODES = 200
"""of the Gauss-Legendre rule; levels are then exact to 1e-9 for looks a hundredth apart"""
FARTHEST = 8.5
"""standard deviations beyond which nothing is left to integrate"""
_LEAST, _LARGEST, _KNOTS = 1e-9, 0.3, 50


def spending(fraction: float, alpha: float) -> float:
    """The part of the error `alpha` that may be spent by this fraction of the information, 0 to 1.

    O'Brien-Fleming type of Lan and DeMets (1983): 2 - 2 Phi(z(1 - alpha/2) / sqrt(t)). Little
    early, so that the last look is nearly as sharp as a test without looks.
    """
    if fraction >= 1:
        return alpha
    if fraction <= 0:
        return 0.0
    return 2 * float(special.ndtr(special.ndtri(alpha / 2) / math.sqrt(fraction)))


def nominal_levels(
    information: Sequence[float], spent: Sequence[float], sides: Sides
) -> list[float]:
    """The level of each look's own test, so that all looks together spend the error they may.

    Args:
        information: at each look, increasing; rounds, or fractions of their number.
        spent: error that may be spent up to and including each look. A look that adds nothing has
            level 0: it can decide nothing.
        sides: of the tests; a level of two-sided tests is two-sided.
    """
    walk = _Walk(sides)
    levels = []
    for at, so_far, before in zip(information, spent, (0.0, *spent), strict=False):
        bound = walk.bound(at, so_far - before)
        levels.append(sides * float(special.ndtr(-bound)))
        walk = walk.stopped_at(at, bound)
    return levels


def crossing(information: Sequence[float], levels: Sequence[float], sides: Sides) -> float:
    """Chance that any look's test is significant at its level, where there is nothing to find."""
    walk, total = _Walk(sides), 0.0
    for at, level in zip(information, levels, strict=True):
        bound = -float(special.ndtri(level / sides))
        total += walk.beyond(at, bound)
        walk = walk.stopped_at(at, bound)
    return total


@dataclass(frozen=True)
class _Walk:
    """A sum of independent normal steps that was not stopped yet.

    Attributes:
        at: information so far, the variance of the sum.
        sums: nodes; mass: probability that each stands for. Empty before the first look.
    """

    sides: Sides
    at: float = 0.0
    sums: NDArray[np.float64] | None = None
    mass: NDArray[np.float64] | None = None

    def beyond(self, at: float, bound: float) -> float:
        """Chance to get here and lie beyond the bound, in standard deviations of the sum."""
        if math.isinf(bound):
            return 0.0
        if self.sums is None or self.mass is None:
            return self.sides * float(special.ndtr(-bound))
        step, far = math.sqrt(at - self.at), bound * math.sqrt(at)
        chance = special.ndtr((self.sums - far) / step)
        if self.sides == 2:
            chance = chance + special.ndtr((-self.sums - far) / step)
        return float(self.mass @ chance)

    def bound(self, at: float, error: float) -> float:
        """The bound that is crossed with this chance; infinite where there is none to spend."""
        low, high = (0.0 if self.sides == 2 else -FARTHEST), 40.0
        if error <= self.beyond(at, high):
            return math.inf
        from scipy import optimize  # a tenth of a second, and few runs are looked at

        return float(optimize.brentq(lambda c: self.beyond(at, c) - error, low, high, xtol=1e-12))

    def stopped_at(self, at: float, bound: float) -> _Walk:
        """The walk that goes on, given that it was not beyond the bound."""
        deviation = math.sqrt(at)
        high = min(bound, FARTHEST) * deviation
        low = -high if self.sides == 2 else -FARTHEST * deviation
        nodes, weights = _rule()
        sums = low + (nodes + 1) * (high - low) / 2
        return _Walk(self.sides, at, sums, self._density(at, sums) * weights * (high - low) / 2)

    def _density(self, at: float, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.sums is None or self.mass is None:
            return _normal(sums, math.sqrt(at))
        step = math.sqrt(at - self.at)
        return np.asarray(_normal(sums[:, None] - self.sums[None, :], step) @ self.mass)


@cache
def _rule() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1]."""
    nodes, weights = special.roots_legendre(NODES)
    return nodes, weights


def _normal(x: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
    scale = deviation * math.sqrt(2 * math.pi)
    return np.asarray(np.exp(-0.5 * (x / deviation) ** 2) / scale)


class LookLevel:
    """The test of one kind at the look at which a run ended.

    Attributes:
        level: of that look's own test.
    """

    def __init__(
        self,
        information: Sequence[float],
        spent: Callable[[float], Sequence[float]],
        alpha: float,
        sides: Sides,
    ) -> None:
        """Prepare for the p values of a look.

        Args:
            information: at each look up to this one.
            spent: for an overall error, what was spent up to each of these looks.
            alpha: the overall error.
            sides: of the tests.
        """
        self._alphas = np.unique([*np.geomspace(_LEAST, _LARGEST, _KNOTS), alpha])
        levels = [nominal_levels(information, spent(float(a)), sides)[-1] for a in self._alphas]
        own = np.maximum.accumulate(np.maximum(levels, np.finfo(float).tiny))
        self._levels: NDArray[np.float64] = own
        self.level = levels[int(np.searchsorted(self._alphas, alpha))]

    def corrected(self, p: float) -> float:
        """The least overall error at which this look's test would be significant.

        It is at most the overall error exactly where p is at most the look's own level. It may be
        adjusted for several comparisons like any p value (Maurer and Bretz 2013). Between knots it
        is interpolated on logarithms.
        """
        levels, alphas = self._levels, self._alphas
        if p >= levels[-1]:
            share = (p - levels[-1]) / (1 - levels[-1])
            return float(alphas[-1] + share * (1 - alphas[-1]))
        if p <= levels[0]:
            return min(float(p * (alphas[0] / levels[0])), float(alphas[0]))
        return float(np.exp(np.interp(math.log(p), np.log(levels), np.log(alphas))))
