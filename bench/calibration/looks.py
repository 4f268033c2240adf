"""Runs with early looks, runs that end for time or are extended, and careless rules.

Each rule is applied to the same simulated studies, with no effect and with effects at both ends of
the margin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

import numpy as np

from bench.calibration.rates import MARGIN, rate
from tare.analysis.inference.significance import levels_after
from tare.analysis.inference.verdicts import bounds, decide, further_units, run_tests
from tare.records.looks import Look

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from bench.calibration.designs import Design
    from bench.calibration.noise import Kind
    from bench.calibration.rates import Rate
    from tare.analysis.inference.estimates import Estimate
    from tare.analysis.inference.significance import SignificanceLevels
    from tare.analysis.model import Verdict

    Estimates = dict[str, Estimate]

CV = 0.05
"""With it, some studies are decided early, and some not at all."""
PLANNED, LOOK, FIRST = 8, 5, 4
"""Rounds at most, those before the planned look, and those of a run that may be extended."""
LEAST = 3
"""Rounds before the first of the careless looks."""
MOST = 40
"""Rounds of the longest extension that is simulated."""
_Place = tuple[int, int, str]
"""A look: round, of so many, why."""


@dataclass(frozen=True)
class Told:
    """What a report says of each comparison, and after how many rounds."""

    rounds: int
    intervals: list[tuple[float, float]]
    verdicts: list[Verdict]

    @property
    def decided(self) -> bool:
        """No comparison is open."""
        return "inconclusive" not in self.verdicts


@cache
def levels(*looks: _Place) -> SignificanceLevels:
    """The levels at the last of these looks."""
    return levels_after(
        [Look.model_validate(dict(zip(("round", "of", "why"), one, strict=True), decided=None))
         for one in looks]
    )  # fmt: skip


class Analysed(Protocol):
    """What makes estimates of a study's values."""

    def estimates(self, values: NDArray[np.float64]) -> Estimates:
        """Every treatment over its baseline, from (conditions, rounds, blocks)."""


class Study:
    """One simulated study, with a true effect, that can be analysed after any round."""

    def __init__(
        self, design: Analysed, values: NDArray[np.float64], stop: int, margin: float = MARGIN
    ) -> None:
        """Nothing is analysed yet.

        Args:
            values: (conditions, rounds, blocks), of as many rounds as any rule asks for.
            stop: the round after which its time is up, where it has a limit.
        """
        self.stop, self.margin = stop, margin
        self.effect = 0.0
        self._design, self._values = design, values
        self._known: dict[int, Estimates] = {}

    def estimates(self, rounds: int) -> list[Estimate]:
        """Every comparison after so many rounds."""
        if rounds not in self._known:
            found = self._design.estimates(self._values[:, :rounds])
            self._known[rounds] = found
        return [
            replace(one, log_ratio=one.log_ratio + self.effect)
            for one in self._known[rounds].values()
        ]

    def told(self, rounds: int, *looks: _Place) -> Told:
        """The report after so many rounds and these looks; without any, at 5%."""
        level = levels(*looks)
        found = self.estimates(rounds)
        return Told(
            rounds,
            [one.interval(level.interval) for one in found],
            [decide(level.corrected(run_tests(one, self.margin)), None) for one in found],
        )


def all_rounds(study: Study) -> Told:
    return study.told(PLANNED)


def until_decided(study: Study) -> Told:
    early = study.told(LOOK, (LOOK, PLANNED, "planned"))
    if early.decided:
        return early
    return study.told(PLANNED, (LOOK, PLANNED, "planned"), (PLANNED, PLANNED, "end"))


def _out_of_time(study: Study) -> Told:
    if study.stop < LOOK:
        return study.told(study.stop, (study.stop, PLANNED, "time"))
    early = study.told(LOOK, (LOOK, PLANNED, "planned"))
    if early.decided:
        return early
    if study.stop == LOOK:
        return study.told(LOOK, (LOOK, PLANNED, "time"))
    return study.told(study.stop, (LOOK, PLANNED, "planned"), (study.stop, PLANNED, "time"))


def _extended(study: Study) -> Told:
    first = study.told(FIRST)
    if first.decided:
        return first
    more = [
        further_units(one, study.margin, verdict) or 0
        for one, verdict in zip(study.estimates(FIRST), first.verdicts, strict=True)
    ]
    rounds = min(FIRST + max(more), MOST)
    return study.told(rounds, (FIRST, FIRST, "end"), (rounds, rounds, "end"))


def _only_extended(study: Study) -> Told | None:
    found = _extended(study)
    return found if found.rounds > FIRST else None


def _every_round(study: Study) -> Told:
    return _first(study, lambda told: told.decided)


def _narrow(study: Study) -> Told:
    width = 2 * study.margin
    return _first(study, lambda told: all(high - low <= width for low, high in told.intervals))


def _first(study: Study, enough: Callable[[Told], bool]) -> Told:
    """The plain report after the first round at which it is enough, or after the last."""
    for rounds in range(LEAST, PLANNED):
        told = study.told(rounds)
        if enough(told):
            return told
    return study.told(PLANNED)


RULES: dict[str, Callable[[Study], Told | None]] = {
    f"all {PLANNED} rounds, no look": all_rounds,
    f"`until: decided`, looks after {LOOK} and {PLANNED}": until_decided,
    f"the same, time is up after {LEAST} to {PLANNED} rounds": _out_of_time,
    f"{FIRST} rounds, extended if open: those extended": _only_extended,
    "the same, extended or not: each run's last report": _extended,
    f"careless: 5% after every round from the {LEAST}rd, until decided": _every_round,
    "careless: 95% intervals, until they are as narrow as the margin": _narrow,
}


@dataclass(frozen=True)
class Looked:
    """What became of the promises under one rule.

    Attributes:
        coverage, false_alarms, tost_size: as in `rates.Promises`.
        rounds: that the runs had on average, where nothing differs.
    """

    rule: str
    coverage: Rate
    false_alarms: Rate
    tost_size: Rate
    rounds: float


def looked(
    design: Design, kind: Kind, studies: int, rules: Collection[str] = RULES
) -> list[Looked]:
    """These rules, on the same studies."""
    rng = np.random.default_rng(crc32(f"looks/{design.name}/{kind.name}".encode()))
    longest = design.resized(MOST)
    made = [
        Study(design, longest.draw(kind, CV, 1, rng)[0], int(rng.integers(LEAST, PLANNED + 1)))
        for _ in range(studies)
    ]
    return [_under(rule, follow, made) for rule, follow in RULES.items() if rule in rules]


def _under(rule: str, follow: Callable[[Study], Told | None], studies: list[Study]) -> Looked:
    none, low, high = (
        [told for told in at(effect, follow, studies) if told is not None]
        for effect in (0.0, *bounds(MARGIN))
    )
    return judged(rule, none, low, high)


def judged(rule: str, none: Sequence[Told], low: Sequence[Told], high: Sequence[Told]) -> Looked:
    """What the last reports come to, of studies of no effect and of one at either end."""
    return Looked(
        rule,
        rate([float(np.mean([a <= 0.0 <= b for a, b in told.intervals])) for told in none]),
        rate([_share(told, ("different", "different within the margin")) for told in none]),
        max(
            (rate([_share(t, _INSIDE) for t in own]) for own in (low, high)), key=lambda r: r.value
        ),
        float(np.mean([told.rounds for told in none])),
    )


_INSIDE = ("equivalent", "different within the margin")


def at(
    effect: float, follow: Callable[[Study], Told | None], studies: Sequence[Study]
) -> Iterator[Told | None]:
    """What the rule leads to if this is the effect of every treatment."""
    for study in studies:
        study.effect = effect
        yield follow(study)


def _share(told: Told, verdicts: tuple[str, ...]) -> float:
    return sum(one in verdicts for one in told.verdicts) / len(told.verdicts)
