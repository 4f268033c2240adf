"""Repetitions with names, such as time stamps, get numbers in the order of the names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tare.imports.trial_identity import TrialPlace
    from tare.imports.trial_writer import ImportedTrial

Numbers = dict[str, dict[str, int]]
"""Condition, or condition and round, to the number of each repetition by its name."""


def number_named(
    trials: Iterable[ImportedTrial],
    numbers: Numbers,
    before: Mapping[str, Mapping[str, int]] | None,
) -> None:
    """Number the repetitions of every condition in which one has a name; note the numbers down.

    If one repetition has a name, a number is a name too: 2 comes before 2b.

    Args:
        before: the numbers of the run that series are added to; None: a run begins. A name outside
            these keeps number 0, which no trial has.
    """
    by_place: dict[str, list[ImportedTrial]] = {}
    for trial in trials:
        by_place.setdefault(_key(trial.place), []).append(trial)
    for key, group in by_place.items():
        if not any(one.place.called for one in group):
            continue
        names = sorted({one.place.repetition for one in group}, key=_natural)
        known = (
            {name: number for number, name in enumerate(names, start=1)}
            if before is None
            else before.get(key, {})
        )
        for one in group:
            one.named = True
            one.block = known.get(one.place.repetition, 0)
        if before is None:
            numbers[key] = dict(known)


def _key(place: TrialPlace) -> str:
    return place.condition.name + (f", round {place.round}" if place.round > 1 else "")


def _natural(name: str) -> list[tuple[int, int, str]]:
    """run-2 before run-10, and numbers before words."""
    return [
        (0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in re.split(r"([0-9]+)", name)
        if part
    ]
