"""The slices of a block: which trial is driven when, in balanced random order."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tare.study.design import Design
    from tare.study.load import Load

LEAD_S = 0.008
"""from the order to thaw a server until its load begins"""
AFTER_S = 0.007
"""from the end of the drain until the next slice's servers are thawed: freezing and reading"""
READ_S = 0.003
"""from the end of a drain until the same server's next slice in a turn: reading, no freezing"""
READ_LEAD_S = 0.001
"""from the reading before a slice until its load begins: by then its server is thawed, and its
client has reported the slice before, if that was its own, too"""
SETTLE_S = 1.2
"""from the last slice of the warm-up to the first measured one. Meanwhile the counter of system
calls is closed (tare.monitor.calls), and one second later the kernel no longer looks for such
counters at each context switch (perf_sched_work of kernel/events/core.c)"""
PASSES_PER_EMPTY = 3
"""passes over all trials for each empty slice, which shows what the machine does without load"""


@dataclass(frozen=True)
class Slot:
    """One slice's place in time.

    Attributes:
        trial: which of the block's trials is driven; None: none is.
        at: seconds from the first slice's load until this one's begins.
        counts: it is measured, not warm-up.
        turn: the turn of a server that it belongs to, from 0.
        last: the last one of its turn, after which the server is frozen.
    """

    trial: int | None
    at: float
    counts: bool
    turn: int
    last: bool


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
        """Seconds from the first slice's load to the end of the last slice's drain."""
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
        """The slices as reported to a trial's clients, and when the first begins, seconds."""
        own = self.of(trial)
        return {
            "length_s": self.length_s,
            "drain_s": self.drain_s,
            "warmup": len(own) - self.measured(trial),
            "begins_s": [slot.at - own[0].at for slot in own],
        }


def turn_seconds(slices: int, length_s: float, drain_s: float) -> float:
    """From the load of one server's turn to that of the next, seconds."""
    return LEAD_S + slices * (length_s + drain_s) + (slices - 1) * READ_S + AFTER_S


def slices_of(seconds: float, length_s: float) -> int:
    """The least number of slices that make up this time."""
    return math.ceil(seconds / length_s - 1e-9)


@dataclass(frozen=True)
class Cut:
    """How the time of a block is cut.

    Attributes:
        warmup_s, measure_s: offered time of a trial with one share, on the server with the most
            slices in a pass, rounded up to whole slices; trials of other servers get more.
        length_s: time in which operations are begun, of each slice.
        drain_s: time for the last replies after that.
        whole: a server's turn holds its slices of a whole pass; else one slice.
        settle_s: pause after the warm-up, where there is one.
    """

    warmup_s: float
    measure_s: float
    length_s: float
    drain_s: float
    whole: bool = False
    settle_s: float = 0.0

    @property
    def pause_s(self) -> float:
        """Seconds from the end of the warm-up's last turn until the first measured turn."""
        return self.settle_s if self.warmup_s > 0 else 0.0

    def turn(self, slices_per_pass: int) -> int:
        """Number of slices in a turn."""
        return slices_per_pass if self.whole else 1


def cut_of(load: Load, design: Design) -> Cut:
    """The cut of a study whose design.slice and design.drain are lengths."""
    return Cut(
        warmup_s=load.warmup,
        measure_s=load.measured_s,
        length_s=float(design.slice),
        drain_s=float(design.drain),
        whole=design.turn == "pass",
        settle_s=SETTLE_S,
    )


def block_seconds(deployments: Iterable[Sequence[int]], cut: Cut) -> float:
    """The time that the slices of a block take.

    Args:
        deployments: the shares of each deployment's trials, as in `make_schedule`.
    """
    shares = list(deployments)
    seconds = 0.0
    for often, offered_s in (
        (max(map(len, shares)), cut.warmup_s),
        (max(map(sum, shares)), cut.measure_s),
    ):
        slices, turn = often * slices_of(offered_s, cut.length_s), cut.turn(often)
        seconds += len(shares) * slices // turn * turn_seconds(turn, cut.length_s, cut.drain_s)
    empty = math.ceil(slices_of(cut.measure_s, cut.length_s) / PASSES_PER_EMPTY)
    return seconds + cut.pause_s + empty * turn_seconds(1, cut.length_s, cut.drain_s)


def make_schedule(
    trials: Sequence[str],
    cut: Cut,
    seed: int,
    *,
    deployments: Sequence[str] = (),
    shares: Sequence[int] = (),
) -> Schedule:
    """Every deployment has its turns, in which its trials are driven, one per slice.

    A pass has as many slices for each deployment as the largest sum of shares; while warming up, as
    the largest number of trials. The order of servers is drawn anew for each turn, the order of a
    server's trials for each pass. One measured pass in three also has an empty slice, at a place of
    its own. Source: randomised multiple interleaved trials (Abedi and Brecht, ICPE 2017), at the
    scale of slices.

    A server that is driven more often costs less per reply: of two identical containers, one driven
    four times as often as the other needed 2.2 to 2.4% less CPU time for an operation
    (docs/resolution.md). So all are driven equally often, warming up and measured.

    Args:
        trials: their names; the order depends on them and on the seed.
        deployments: the deployment of each trial; empty: each has its own.
        shares: slices of each trial per slice of an ordinary trial on its deployment; empty: all
            get one.
    """
    warm: dict[str, list[int]] = {}
    measured: dict[str, list[int]] = {}
    for number, name in enumerate(deployments or trials):
        warm.setdefault(name, []).append(number)
        measured.setdefault(name, []).extend([number] * (shares[number] if shares else 1))
    # not for secrets: a published seed is what makes the order repeatable
    generator = random.Random(f"{seed} {' '.join(trials)}")  # noqa: S311
    phases = ((cut.warmup_s, warm, False), (cut.measure_s, measured, True))
    turns = [
        (turn, counts)
        for offered_s, own, counts in phases
        for turn in _turns(own, cut, offered_s, generator, empty=counts)
    ]
    slots: list[Slot] = []
    at = 0.0
    for number, (turn, counts) in enumerate(turns):
        if number and counts and not turns[number - 1][1]:
            at += cut.pause_s
        for place, trial in enumerate(turn):
            last = place == len(turn) - 1
            slots.append(Slot(trial, at, counts, number, last))
            at += cut.length_s + cut.drain_s + (LEAD_S + AFTER_S if last else READ_S)
    return Schedule(slots, cut.length_s, cut.drain_s)


def _turns(
    own: Mapping[str, Sequence[int]],
    cut: Cut,
    offered_s: float,
    generator: random.Random,
    *,
    empty: bool,
) -> Iterator[list[int | None]]:
    """The trials driven in each turn of each server.

    Args:
        own: deployment to its trials, each as often as it has shares.
        empty: every third pass has a turn of one empty slice.
    """
    often = max(map(len, own.values()))
    size = cut.turn(often)
    in_order = [_over_and_over(shared, generator) for shared in own.values()]
    for number in range(often * slices_of(offered_s, cut.length_s) // size):
        turns: list[list[int | None]] = [[next(one) for _ in range(size)] for one in in_order]
        if empty and number * size % (often * PASSES_PER_EMPTY) == 0:
            turns.append([None])
        generator.shuffle(turns)
        yield from turns


def _over_and_over(trials: Sequence[int], generator: random.Random) -> Iterator[int]:
    """All of them in random order, then all again in another order, without end."""
    while True:
        yield from generator.sample(trials, len(trials))
