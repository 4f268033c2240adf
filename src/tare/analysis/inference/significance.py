"""The levels of a run's tests and intervals, after the looks made before its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.inference.group_sequential import LookLevel, crossing, spending
from tare.analysis.inference.verdicts import ALPHA, Tests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.records.looks import Look


MOST_SURE = 1 - 1e-12
"""Level of an interval at a look that may spend nothing: so wide that it says nothing; finite."""


@dataclass(frozen=True)
class SignificanceLevels:
    """Levels at the look at which a run ended; without looks 5%, and intervals of 95 and 90%.

    Attributes:
        difference: of two-sided tests of no difference; equivalence: of each of the two one-sided
            tests at a margin. None: no look before the end.
        method: a sentence for every interval; empty without looks.
    """

    difference: LookLevel | None = None
    equivalence: LookLevel | None = None
    method: str = ""

    @property
    def interval(self) -> float:
        """Confidence level of the intervals."""
        return min(1 - (self.difference.level if self.difference else ALPHA), MOST_SURE)

    @property
    def tost_interval(self) -> float:
        """Confidence level of the interval that lies inside the margins where TOST passes."""
        return min(1 - 2 * (self.equivalence.level if self.equivalence else ALPHA), MOST_SURE)

    def corrected(self, tests: Tests) -> Tests:
        """P values that allow for the looks, significant at 5% as the plain ones at their level."""
        if self.equivalence is None:
            return tests
        difference, alike = tests.difference, tests.equivalence
        return Tests(
            None if difference is None else self.corrected_p(difference),
            None if alike is None else self.equivalence.corrected(alike),
        )

    def corrected_p(self, p: float) -> float:
        """`corrected` for one p value of no difference."""
        return p if self.difference is None else self.difference.corrected(p)


PLAIN = SignificanceLevels()


def levels_after(looks: Sequence[Look]) -> SignificanceLevels:
    """The levels at the last of these looks.

    Each look has spent what its share of the planned rounds allows. A final look spends all that is
    left, because the run was to end there in any case. If the run was extended after such an end,
    that end counts as a look at its share of the longer run: its own verdicts are withdrawn.
    """
    if not looks or (len(looks) == 1 and _all_spent(looks)):
        return PLAIN
    rounds = [weight(one.round) for one in looks]
    difference = LookLevel(rounds, lambda alpha: spent_after(looks, alpha), ALPHA, 2)
    equivalence = LookLevel(rounds, lambda alpha: spent_after(looks, alpha), ALPHA, 1)
    plural = "looks" if len(looks) > 1 else "look"
    method = (
        f" After {len(looks)} {plural} at the run: this one's intervals are of "
        f"{_percent(1 - difference.level)} (TOST: {_percent(1 - 2 * equivalence.level)}), so that "
        "those of all looks together hold with 95% (90%); p values allow for it."
    )
    return SignificanceLevels(difference, equivalence, method)


def spent_after(looks: Sequence[Look], alpha: float) -> list[float]:
    """The error spent up to and including each look, in the view of the last one."""
    planned = looks[-1].of
    spent: list[float] = []
    for one in looks:
        before = spent[-1] if spent else 0.0
        last = one is looks[-1]
        share = 1.0 if last and one.final else one.round / (planned if one.final else one.of)
        spent.append(max(before, spending(share, alpha)))
    return spent


def believed_at_every_end(looks: Sequence[Look]) -> float:
    """Chance of a false alarm for a reader who believed the verdict at every end, also before the
    run was extended, when there is nothing to find and one comparison."""
    levels = [1 - levels_after(looks[: i + 1]).interval for i in range(len(looks))]
    return crossing([weight(one.round) for one in looks], levels, 2)


def weight(rounds: int) -> float:
    """The weight of so many rounds in the correlation of two looks' tests.

    For means with a known variance it would be their number. t tests after few rounds are less
    correlated, because the variance is estimated anew: with the number itself, looks after 5 and 8
    rounds have 5.3% of false alarms, and after 3 and 4 rounds 5.6%. Weighing each round by the
    degrees of freedom, they have 4.9% (docs/decisions/0017, bench/calibration/levels.py).
    """
    return rounds * max(rounds - 1, 0.5)


def _all_spent(looks: Sequence[Look]) -> bool:
    return spent_after(looks, ALPHA)[-1] >= ALPHA


def _percent(share: float) -> str:
    return f"{share * 100:.4g}%"
