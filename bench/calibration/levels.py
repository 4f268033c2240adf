"""False alarm rates of t tests at the levels of two looks, with and without weights for few rounds.

This command makes the table in docs/decisions/0017-looks.md in half a minute:

    python -m bench.calibration.levels 200000
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from tare.analysis.inference.group_sequential import nominal_levels, spending
from tare.analysis.inference.significance import weight
from tare.analysis.inference.verdicts import ALPHA

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tare.analysis.inference.group_sequential import Sides

LOOKS = [(3, 4), (3, 5), (4, 6), (5, 8), (10, 16), (20, 32)]
CONDITIONS = (2, 5)
CHUNK = 50_000
SEED = 3


def false_alarms(
    looks: tuple[int, int],
    conditions: int,
    sides: Sides,
    weigh: Callable[[int], float],
    studies: int,
) -> float:
    """Share of studies in which either look finds a difference, or equivalence at the margin.

    Args:
        looks: rounds before each look.
        conditions: that the variance is pooled over.
        sides: 2: tests of no difference; 1: those of TOST, with the truth at the margin.
        weigh: rounds to what they weigh where the two looks are related.
    """
    rng = np.random.default_rng(SEED)
    spent = [spending(looks[0] / looks[1], ALPHA), ALPHA]
    levels = nominal_levels([weigh(n) for n in looks], spent, sides)
    found = 0
    for begin in range(0, studies, CHUNK):
        shape = min(CHUNK, studies - begin), conditions, looks[1]
        values = rng.standard_normal(shape)
        either = np.zeros(shape[0], dtype=np.bool_)
        for rounds, level in zip(looks, levels, strict=True):
            either |= _significant(values[:, :, :rounds], level, sides)
        found += int(either.sum())
    return found / studies


def _significant(values: NDArray[np.float64], level: float, sides: Sides) -> NDArray[np.bool_]:
    """The t test of the second condition over the first, variance from condition + round."""
    _, conditions, rounds = values.shape
    rest = values - values.mean(axis=1, keepdims=True) - values.mean(axis=2, keepdims=True)
    rest += values.mean(axis=(1, 2), keepdims=True)
    df = (conditions - 1) * (rounds - 1)
    se = np.sqrt(2 * (rest**2).sum(axis=(1, 2)) / df / rounds)
    t = (values[:, 1].mean(axis=1) - values[:, 0].mean(axis=1)) / se
    return np.asarray((np.abs(t) if sides == 2 else t) >= special.stdtrit(df, 1 - level / sides))


def main() -> None:
    """Print a table."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else CHUNK
    print("| looks after | conditions | difference | weighed | TOST | weighed |")
    print("|---|---|---|---|---|---|")
    ways: list[tuple[Sides, Callable[[int], float]]] = [
        (2, float), (2, weight), (1, float), (1, weight),
    ]  # fmt: skip
    for conditions in CONDITIONS:
        for looks in LOOKS:
            rates = [false_alarms(looks, conditions, *way, studies) for way in ways]
            told = " | ".join(f"{rate * 100:.1f}%" for rate in rates)
            print(f"| {looks[0]} and {looks[1]} | {conditions} | {told} |")


if __name__ == "__main__":
    main()
