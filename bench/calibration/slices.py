"""Fully simulated studies in slices: from each slice's log cost to intervals and verdicts.

    python -m bench.calibration.slices          prints the table of docs/calibration.md
    python -m bench.calibration.slices 50       a quick look

The conditions are the quickstart's: two native servers, and a container reached by four endpoints.
Order, fit and intervals are those of real runs. The noise is as measured on a real machine
(docs/resolution.md): moods with a correlation that fades over about forty slices, and bursts.
"""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from scipy.signal import lfilter

from bench.calibration.designs import as_logs
from bench.calibration.rates import judge, promises
from tare.analysis.inference.estimates import estimate, make_stratum
from tare.analysis.slices import arrange, terms_of
from tare.study.slice_schedule import Cut, make_schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bench.calibration.rates import Promises
    from tare.analysis.inference.estimates import Estimate

STUDIES = 400
ROUNDS, PASSES = 9, 14
SERVERS = (0, 1, 2, 2, 2, 2)
"""Which server each condition drives."""
ENDPOINTS = [(2, 3), (2, 4), (2, 5)]
AGAIN = 1
"""The baseline's setup once more, on a server of its own."""
DEPLOYMENTS = [(0, AGAIN), (0, 2)]
_MOODS = ((0.1, 0.0), (0.4, 3.0), (0.5, 12.0))
"""Share of the variance, and how many seconds it lasts. With bursts and own noise the correlation
of slices of 250 ms is some 0.5 at a lag of 1 and 0.1 at 40; 0.73 and 0.1 were measured."""
MOOD_SD, OWN_SD = 0.10, 0.02
BURSTS, BURST_SD = 0.03, 0.5
DEPLOYMENT_SD = 0.01
PACE_SLOPE = 0.68
"""As of run 25 (docs/decisions/0024-pace.md)."""
_PACES = ((0.6, 0.0), (0.4, 0.3))
"""as `_MOODS`"""
PACE_SD = 0.10
CONTAINER = 2


@dataclass(frozen=True)
class Neighbour:
    """A guest on the other hardware thread of the servers' core.

    Attributes:
        slope: log cost of a slice for each log of the pace's time.
        container: what the container's slices have of it on top.
        shifts: what the container adds to the pace itself, which it must not.
        sampled: there is a pace.
    """

    slope: float = PACE_SLOPE
    container: float = 0.0
    shifts: float = 0.0
    sampled: bool = True


@dataclass(frozen=True)
class Trouble:
    """What befalls a study beside the machine's moods.

    Attributes:
        switch: log cost that a slice has more after another server's.
        after: the same after this server's slices alone, on top.
        slow, slowdown: share of deployments that are slower, and their log cost.
        interaction: sd of an endpoint's own cost in one deployment.
        neighbour: a guest of the machine; None: there is none, and no pace.
    """

    name: str
    switch: float = 0.0
    after: tuple[int, float] | None = None
    slow: float = 0.0
    slowdown: float = 0.0
    interaction: float = 0.0
    neighbour: Neighbour | None = None


TROUBLES = (
    Trouble("moods and bursts alone"),
    Trouble("a slice after another server's costs 1% more", switch=0.01),
    Trouble("it costs 0.5% more, and 2% after a container's", switch=0.005, after=(2, 0.015)),
    Trouble("one deployment in ten is 8% slower", switch=0.01, slow=0.1, slowdown=0.077),
    Trouble("each JVM has its own endpoints, sd 0.3%", switch=0.01, interaction=0.003),
    Trouble("it costs 5% more, and 8% after a container's", switch=0.05, after=(2, 0.03)),
    Trouble("a neighbour, no pace", switch=0.01, neighbour=Neighbour(sampled=False)),
    Trouble("a neighbour, whose pace is sampled", switch=0.01, neighbour=Neighbour()),
    Trouble("the pace says nothing", switch=0.01, neighbour=Neighbour(slope=0.0)),
    Trouble(
        "the neighbour slows the container half as much again",
        switch=0.01,
        neighbour=Neighbour(container=PACE_SLOPE / 2),
    ),
    Trouble(
        "the container itself slows the pace by 0.5%",
        switch=0.01,
        neighbour=Neighbour(shifts=0.005),
    ),
)


@dataclass(frozen=True)
class Found:
    """Of one kind of comparison under one trouble.

    Attributes:
        bias: mean log-ratio where nothing differs, in percent, and its standard error.
        half_width: median of the 95% intervals', percent.
    """

    promises: Promises
    bias: tuple[float, float]
    half_width: float


def moods(number: int, period_s: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """The machine's log cost over so many slices."""
    bursts = rng.random(number) < BURSTS
    whole = _lasting(_MOODS, number, period_s, rng)
    return MOOD_SD * whole + bursts * np.abs(rng.normal(0.0, BURST_SD, number))


def _lasting(
    parts: Sequence[tuple[float, float]], number: int, period_s: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """A sum of parts, each with its share of the variance 1 and its seconds."""
    whole = np.zeros(number)
    for share, lasts_s in parts:
        keeps = math.exp(-period_s / lasts_s) if lasts_s else 0.0
        shocks = rng.normal(0.0, math.sqrt(1 - keeps**2), number + 200)
        whole += math.sqrt(share) * lfilter([1.0], [1.0, -keeps], shocks)[200:]
    return whole


def usual(passes: int) -> Cut:
    """A quarter of a second for one condition of a server at a time."""
    return Cut(0.5, passes * 0.25, 0.25, 0.03)


def together(passes: int) -> Cut:
    """All conditions of a server in each of its turns, in slices of 20 ms: five for one usual."""
    return Cut(0.5, 5 * passes * 0.02, 0.02, 0.007, whole=True)


CUTS = {"one slice": usual(PASSES), "a pass": together(PASSES)}


def round_of(
    trouble: Trouble, seed: int, rng: np.random.Generator, cut: Cut
) -> NDArray[np.float64]:
    """The conditions' fitted effects in one round, as the analysis gets them."""
    schedule = make_schedule(
        [f"c{place}" for place in range(len(SERVERS))],
        cut,
        seed,
        deployments=[f"s{server}" for server in SERVERS],
    )
    servers = len(set(SERVERS))
    own = rng.normal(0.0, DEPLOYMENT_SD, servers)
    own += trouble.slowdown * (rng.random(servers) < trouble.slow)
    ways = rng.normal(0.0, trouble.interaction, len(SERVERS))
    slots, period_s = len(schedule.slots), schedule.seconds / len(schedule.slots)
    mood = moods(slots, period_s, rng)
    beside = trouble.neighbour
    pace = PACE_SD * _lasting(_PACES, slots, period_s, rng) if beside else np.zeros(slots)
    logs, driven, turns, paces = [], [], [], []
    before = -1  # an empty slice cools no cache, and is no switch
    for slot, machine, slowed in zip(schedule.slots, mood, pace, strict=True):
        if slot.trial is None:
            continue
        server = SERVERS[slot.trial]
        if slot.counts:
            carried = trouble.switch if before != server else 0.0
            if trouble.after is not None and before == trouble.after[0] != server:
                carried += trouble.after[1]
            if beside is not None:
                contained = server == CONTAINER
                carried += (beside.slope + contained * beside.container) * slowed
                paces.append(slowed + contained * beside.shifts)
            logs.append(machine + own[server] + ways[slot.trial] + carried)
            driven.append(slot.trial)
            turns.append(slot.turn)
        before = server
    noisy = np.array(logs) + rng.normal(0.0, OWN_SD, len(logs))
    arranged = arrange(noisy, driven, SERVERS, turns)
    sampled = beside is not None and beside.sampled
    return terms_of(arranged._replace(pace=np.array(paces) if sampled else None)).effects


def study_of(
    trouble: Trouble, rng: np.random.Generator, cut: Cut, rounds: int = ROUNDS
) -> NDArray[np.float64]:
    """Log values of one study: (conditions, rounds, 1 block)."""
    made = [round_of(trouble, int(rng.integers(1 << 30)), rng, cut) for _ in range(rounds)]
    return np.array(made).T[:, :, None]


def estimates_of(
    values: NDArray[np.float64], pairs: Sequence[tuple[int, int]]
) -> dict[str, Estimate]:
    """Tare's estimate of every treatment of these pairs, which share a baseline."""
    logs = as_logs(values)
    first = f"c{pairs[0][0]}"
    members = {first: logs[first]} | {f"c{treated}": logs[f"c{treated}"] for _, treated in pairs}
    stratum = make_stratum(members, first, by_deployment=True)
    found = {
        f"c{treated}": estimate(
            stratum,
            f"c{treated}",
            alike=SERVERS.count(SERVERS[base]) == SERVERS.count(SERVERS[treated]),
            repeats=[f"c{AGAIN}"],
        )
        for base, treated in pairs
    }
    return {name: one for name, one in found.items() if one is not None}


def simulate(trouble: Trouble, cut: Cut, pairs: Sequence[tuple[int, int]], studies: int) -> Found:
    """So many studies, and what became of these comparisons; none of them differs in truth."""
    rng = np.random.default_rng(crc32(f"slices/{trouble.name}".encode()))
    rows, ratios, widths = [], [], []
    for _ in range(studies):
        known = list(estimates_of(study_of(trouble, rng, cut), pairs).values())
        rows.append([judge(one) for one in known])
        ratios.append(np.mean([one.log_ratio for one in known]))
        widths += [(one.interval(0.95)[1] - one.interval(0.95)[0]) / 2 for one in known]
    bias = 100 * float(np.mean(ratios))
    error = 100 * float(np.std(ratios, ddof=1)) / math.sqrt(studies)
    return Found(promises(rows), (bias, error), 100 * float(np.median(widths)))


def table(studies: int) -> list[str]:
    """Markdown, a line per trouble and kind of comparison."""
    lines = [
        "| trouble | a turn is | comparison | 95% interval holds the truth | A/A alarms | bias | "
        "half-width |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    kinds = (("endpoints", ENDPOINTS), ("deployments", DEPLOYMENTS))
    for trouble in TROUBLES:
        for (turn, cut), (name, pairs) in itertools.product(CUTS.items(), kinds):
            one = simulate(trouble, cut, pairs, studies)
            lines.append(
                f"| {trouble.name} | {turn} | {name} | {one.promises.coverage} | "
                f"{one.promises.false_alarms} | {one.bias[0]:+.2f}% ±{one.bias[1]:.2f} | "
                f"{one.half_width:.2f}% |"
            )
    return lines


if __name__ == "__main__":
    print("\n".join(table(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)))
