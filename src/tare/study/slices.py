"""The slices of a block: which trial is driven when, in balanced random order."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        count: slices of each trial that are measured.
    """

    slots: list[Slot]
    length_s: float
    drain_s: float
    count: int

    @property
    def seconds(self) -> float:
        """From the first slice's load to the end of the last one's drain."""
        return self.slots[-1].at + self.length_s + self.drain_s

    def of(self, trial: int) -> list[Slot]:
        """The slices of one trial."""
        return [slot for slot in self.slots if slot.trial == trial]

    def told(self, trial: int) -> dict[str, object]:
        """What a trial's clients are told of its slices, and when the first begins, seconds."""
        own = self.of(trial)
        return {
            "length_s": self.length_s,
            "drain_s": self.drain_s,
            "warmup": len(own) - self.count,
            "begins_s": [slot.at - own[0].at for slot in own],
        }


def period(length_s: float, drain_s: float) -> float:
    """From the load of one slice to that of the next, seconds."""
    return LEAD_S + length_s + drain_s + AFTER_S


def slices_of(seconds: float, length_s: float) -> int:
    """Slices that make up so much time at least."""
    return math.ceil(seconds / length_s - 1e-9)


def block_seconds(
    sharing: Iterable[int], warmup_s: float, measure_s: float, length_s: float, drain_s: float
) -> float:
    """How long the slices of a block take, of deployments that so many trials each share."""
    trials = list(sharing)
    count = slices_of(measure_s, length_s)
    driven = len(trials) * _warm_passes(max(trials), warmup_s, length_s) + sum(trials) * count
    return (driven + math.ceil(count / PASSES_PER_EMPTY)) * period(length_s, drain_s)


def _warm_passes(sharing: int, warmup_s: float, length_s: float) -> int:
    """Slices of each deployment that are not measured; so many trials share one at most."""
    return sharing * slices_of(warmup_s, length_s)


def make_schedule(
    trials: Sequence[str],
    *,
    deployments: Sequence[str] = (),
    warmup_s: float,
    measure_s: float,
    length_s: float,
    drain_s: float,
    seed: int,
) -> Schedule:
    """Every deployment once in each pass that warms up, then every trial once in each pass.

    The order is drawn anew for each pass. A pass in three of those that are measured has an empty
    slice, too, at a place of its own. Source: randomised multiple interleaved trials (Abedi and
    Brecht, ICPE 2017), at the scale of slices.

    A server that has stood still is slower at first: of a Cassandra node, each operation cost 7%
    more than later, and nothing more after three seconds under load (docs/resolution.md). Servers
    with few trials are driven in the place of those with many, so that all are equally warm.

    Args:
        trials: their names, of which the order depends besides the seed.
        deployments: which deployment each is a trial of; empty: each has its own.
        warmup_s, measure_s: offered time of each trial, rounded up to whole slices; where
            deployments have different numbers of trials, trials of the others warm up for longer.
    """
    own: dict[str, list[int]] = {}
    for number, name in enumerate(deployments or trials):
        own.setdefault(name, []).append(number)
    count = slices_of(measure_s, length_s)
    # not for secrets: a published seed is what makes the order repeatable
    generator = random.Random(f"{seed} {' '.join(trials)}")  # noqa: S311
    slots: list[Slot] = []
    for number in range(_warm_passes(max(map(len, own.values())), warmup_s, length_s)):
        turn: list[int | None] = [shared[number % len(shared)] for shared in own.values()]
        generator.shuffle(turn)
        slots += [Slot(trial, 0.0, False) for trial in turn]
    for number in range(count):
        turn = list(range(len(trials)))
        if number % PASSES_PER_EMPTY == 0:
            turn.append(None)
        generator.shuffle(turn)
        slots += [Slot(trial, 0.0, True) for trial in turn]
    each = period(length_s, drain_s)
    return Schedule(
        [Slot(one.trial, place * each, one.counts) for place, one in enumerate(slots)],
        length_s,
        drain_s,
        count,
    )
