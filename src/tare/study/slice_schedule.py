"""The slices of a block: which trial is driven when, in balanced random order."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LEAD_S = 0.008
"""from the order to thaw a server until its load begins"""
AFTER_S = 0.007
"""from the end of the drain until the next slice's servers are thawed: freezing and reading"""
PASSES_PER_EMPTY = 3
"""passes over all trials for each empty slice, which shows what the machine does without load"""


@dataclass(frozen=True)
class Slot:
    """One slice's place in time.

    Attributes:
        trial: which of the block's trials is driven; None: none is.
        at: seconds from the first slice's load until this one's begins.
        counts: it is measured, not warm-up.
    """

    trial: int | None
    at: float
    counts: bool


@dataclass(frozen=True)
class Schedule:
    """Every slice of a block, in order.

    Attributes:
        length_s: time in which operations are begun, of each slice.
        drain_s: time for the last replies after that.
    """

    slots: list[Slot]
    length_s: float
    drain_s: float

    @property
    def seconds(self) -> float:
        """From the first slice's load to the end of the last one's drain."""
        return self.slots[-1].at + self.length_s + self.drain_s

    def of(self, trial: int) -> list[Slot]:
        """The slices of one trial."""
        return [slot for slot in self.slots if slot.trial == trial]

    def measured(self, trial: int) -> int:
        """How many of a trial's slices are measured."""
        return sum(slot.counts for slot in self.of(trial))

    def longest_wait(self, trial: int) -> float:
        """Until a trial's first slice, or from one of its slices to the next, seconds."""
        return max(b.at - a.at for a, b in itertools.pairwise([self.slots[0], *self.of(trial)]))

    def told(self, trial: int) -> dict[str, object]:
        """What a trial's clients are told of its slices, and when the first begins, seconds."""
        own = self.of(trial)
        return {
            "length_s": self.length_s,
            "drain_s": self.drain_s,
            "warmup": len(own) - self.measured(trial),
            "begins_s": [slot.at - own[0].at for slot in own],
        }


def period(length_s: float, drain_s: float) -> float:
    """From the load of one slice to that of the next, seconds."""
    return LEAD_S + length_s + drain_s + AFTER_S


def slices_of(seconds: float, length_s: float) -> int:
    """Slices that make up so much time at least."""
    return math.ceil(seconds / length_s - 1e-9)


def block_seconds(
    deployments: Iterable[Sequence[int]],
    warmup_s: float,
    measure_s: float,
    length_s: float,
    drain_s: float,
) -> float:
    """How long the slices of a block take.

    Args:
        deployments: the shares of each one's trials, as `make_schedule` has them.
    """
    shares = list(deployments)
    warm = max(map(len, shares)) * slices_of(warmup_s, length_s)
    passes = slices_of(measure_s, length_s)
    turns = warm + max(map(sum, shares)) * passes
    empty = math.ceil(passes / PASSES_PER_EMPTY)
    return (len(shares) * turns + empty) * period(length_s, drain_s)


def make_schedule(
    trials: Sequence[str],
    *,
    deployments: Sequence[str] = (),
    shares: Sequence[int] = (),
    warmup_s: float,
    measure_s: float,
    length_s: float,
    drain_s: float,
    seed: int,
) -> Schedule:
    """Every deployment once in each turn, in which one of its trials is driven.

    The order is drawn anew for each turn. As many turns as a deployment's trials have shares at
    most are a pass, while warming up one for each of its trials; one pass in three of those that
    are measured has an empty slice, too, at a place of its own. Source: randomised multiple
    interleaved trials (Abedi and Brecht, ICPE 2017), at the scale of slices.

    A server that is driven more often answers for less: of two identical containers, one driven
    four times as often as the other needed 2.2 to 2.4% less CPU time for an operation
    (docs/resolution.md). So all are driven equally often, warming up and measured.

    Args:
        trials: their names, of which the order depends besides the seed.
        deployments: which deployment each is a trial of; empty: each has its own.
        shares: how many slices each has in a pass, for one of another trial of its deployment;
            empty: all have one.
        warmup_s, measure_s: offered time of a trial with one share, rounded up to whole slices,
            where its deployment has as many turns in a pass as any; trials of the others have more.
    """
    warm: dict[str, list[int]] = {}
    measured: dict[str, list[int]] = {}
    for number, name in enumerate(deployments or trials):
        warm.setdefault(name, []).append(number)
        measured.setdefault(name, []).extend([number] * (shares[number] if shares else 1))
    # not for secrets: a published seed is what makes the order repeatable
    generator = random.Random(f"{seed} {' '.join(trials)}")  # noqa: S311
    slots: list[Slot] = []
    for seconds, own, counts in ((warmup_s, warm, False), (measure_s, measured, True)):
        most = max(map(len, own.values()))
        in_order = [_over_and_over(shared, generator) for shared in own.values()]
        for number in range(most * slices_of(seconds, length_s)):
            turn: list[int | None] = [next(one) for one in in_order]
            if counts and number % (most * PASSES_PER_EMPTY) == 0:
                turn.append(None)
            generator.shuffle(turn)
            slots += [Slot(trial, 0.0, counts) for trial in turn]
    each = period(length_s, drain_s)
    return Schedule(
        [Slot(one.trial, place * each, one.counts) for place, one in enumerate(slots)],
        length_s,
        drain_s,
    )


def _over_and_over(trials: Sequence[int], generator: random.Random) -> Iterator[int]:
    """All of them in random order, then all again in another one, without end."""
    while True:
        yield from generator.sample(trials, len(trials))
