"""Studies in slices that end at planned looks: noise from `slices`, rules from `looks`.

    python -m bench.calibration --sliced-looks          only this part of docs/calibration.md

The study is the quickstart's: 26 slices of each condition per round, and a margin of 3%. It
compares three endpoints with the container's own loopback, and the container with a native server.
It ends at the look that decides all of these. The second native server (A/A) is in no question, but
is part of the variance, as in a real analysis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from bench.calibration.looks import LOOK, PLANNED, Study, all_rounds, at, judged, until_decided
from bench.calibration.rates import rate
from bench.calibration.slices import DEPLOYMENTS, ENDPOINTS, estimates_of, study_of, usual
from tare.analysis.inference.verdicts import bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from bench.calibration.looks import Looked, Told
    from bench.calibration.rates import Rate
    from bench.calibration.slices import Trouble
    from tare.analysis.inference.estimates import Estimate

PASSES = 14
MARGIN = 0.03
CHUNK = 50
"""Studies that are drawn from one seed, by one process."""
PARTS = {"endpoints": slice(len(ENDPOINTS)), "container over native": slice(len(ENDPOINTS), None)}
"""Which of a study's comparisons are of one kind."""
_CONTAINER = f"c{DEPLOYMENTS[-1][1]}"


class Asked:
    """The comparisons that decide when the study ends."""

    def estimates(self, values: NDArray[np.float64]) -> dict[str, Estimate]:
        """The endpoints, then the container."""
        servers = estimates_of(values, DEPLOYMENTS)
        return estimates_of(values, ENDPOINTS) | {_CONTAINER: servers[_CONTAINER]}


@dataclass(frozen=True)
class Ends:
    """When studies end.

    Attributes:
        early: ended at the look before the last round.
        undecided: a comparison was open after the last.
        rounds: on average.
    """

    early: Rate
    undecided: Rate
    rounds: float


@dataclass(frozen=True)
class Found:
    """What became of the studies under one trouble.

    Attributes:
        parts: kind of comparison to the promises, without looks and with them.
        alike, apart: when studies end if nothing differs, and if all differs by the margin.
    """

    trouble: str
    parts: Mapping[str, tuple[Looked, Looked]]
    alike: Ends
    apart: Ends


def simulate(
    trouble: Trouble, studies: int, spread: Callable[..., Iterable[NDArray[np.float64]]] = map
) -> Found:
    """So many studies, each judged at no effect and at either end of the margin.

    Args:
        spread: `map`, or that of a pool of processes: the fits take nearly all of the time.
    """
    sizes = [min(CHUNK, studies - begun) for begun in range(0, studies, CHUNK)]
    values = chain.from_iterable(spread(drawn, repeat(trouble), range(len(sizes)), sizes))
    return follow(trouble.name, [Study(Asked(), one, PLANNED, MARGIN) for one in values])


def drawn(trouble: Trouble, chunk: int, size: int) -> NDArray[np.float64]:
    """Log values of so many studies: (studies, conditions, rounds, 1 block)."""
    rng = np.random.default_rng(crc32(f"sliced looks/{trouble.name}/{chunk}".encode()))
    return np.array([study_of(trouble, rng, usual(PASSES), PLANNED) for _ in range(size)])


def follow(name: str, studies: Sequence[Study]) -> Found:
    """What the last reports of these studies say, where nobody looked before and where one did."""
    effects = (0.0, *bounds(MARGIN))
    plain, looked = (
        [[told for told in at(effect, rule, studies) if told is not None] for effect in effects]
        for rule in (all_rounds, until_decided)
    )
    parts = {
        kind: (_judged("no look", plain, part), _judged("looks", looked, part))
        for kind, part in PARTS.items()
    }
    return Found(name, parts, _ends(looked[0]), _ends(looked[1]))


def _judged(rule: str, told: Sequence[Sequence[Told]], part: slice) -> Looked:
    return judged(rule, *([_only(one, part) for one in own] for own in told))


def _only(told: Told, part: slice) -> Told:
    return replace(told, intervals=told.intervals[part], verdicts=told.verdicts[part])


def _ends(told: Sequence[Told]) -> Ends:
    return Ends(
        rate([float(one.rounds == LOOK) for one in told]),
        rate([float(not one.decided) for one in told]),
        float(np.mean([one.rounds for one in told])),
    )
