"""Conditions with a finding's load: equal threads or rate, or an equal share of a maximum."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.knowledge.schema import PublishedLoad
    from tare.study.conditions import Condition
    from tare.study.load import Load

_SAME_SHARE = 0.005
"""Shares are printed in whole percent."""
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")


def at_load(stated: PublishedLoad, conditions: Sequence[Condition]) -> list[Condition]:
    """The conditions that have the finding's load; if it names none, all that can be compared.

    Equal numbers come first. Where no condition has them, and the study asks for shares of the
    maximum instead, an equal share is the same load. The whole maximum is also what a closed loop
    beside rates reaches. Such a closed loop has no other load than its maximum, so a finding that
    does not mention the maximum is one at the rates, which both sides share. A load that a source
    calls light is any but the heaviest of conditions that are alike otherwise; heavy is the
    heaviest.
    """
    equal = [one for one in conditions if _equal(stated, one.setup.load)]
    if equal:
        return equal
    shares = shares_of(stated)
    if shares:
        sought = [one for one in conditions if _shared(shares, one.setup.load)]
        return sought if sought or shares != [1.0] else _unlimited(conditions)
    if stated.threads is not None or stated.rate is not None:
        return []
    maxima = {one.name for one in _unlimited(conditions)}
    held = [one for one in conditions if one.name not in maxima]
    if stated.label in ("light", "heavy"):
        heaviest = _heaviest(held)
        return [one for one in held if (one.name in heaviest) == (stated.label == "heavy")]
    return held


def shares_of(stated: PublishedLoad) -> list[float]:
    """The shares of the maximum that a load names: its own, or those in its label."""
    if stated.share is not None:
        return [stated.share]
    if stated.threads is not None or stated.rate is not None:
        return []
    return [float(number) / 100 for number in _PERCENT.findall(stated.label)]


def intensity(load: Load) -> tuple[object, ...]:
    """The parts in which two loads of one workload differ: operations in flight, the rate and its
    owner, phases."""
    return load.threads, load.rate, load.rate_per, tuple(load.phases)


def _equal(stated: PublishedLoad, load: Load) -> bool:
    if stated.rate is not None:
        return bool(load.rate == stated.rate)
    return stated.threads is not None and load.rate is None and bool(load.threads == stated.threads)


def _shared(shares: Sequence[float], load: Load) -> bool:
    sought = load.share
    return sought is not None and any(abs(sought - one) < _SAME_SHARE for one in shares)


def _unlimited(conditions: Sequence[Condition]) -> list[Condition]:
    """The closed loops among conditions that are alike except for their rates."""
    return [
        one
        for group in _alike(conditions)
        for one in group
        if one.setup.load.rate is None and any(other.setup.load.rate for other in group)
    ]


def _heaviest(conditions: Sequence[Condition]) -> set[str]:
    """Names of the conditions with the greatest load among those alike in all else."""
    return {
        one.name
        for group in _alike(conditions)
        for one in group
        if _size(one.setup.load) == max(_size(other.setup.load) for other in group)
    }


def _alike(conditions: Sequence[Condition]) -> list[list[Condition]]:
    """The conditions in groups that differ only in their load's intensity."""
    groups: dict[str, list[Condition]] = {}
    for one in conditions:
        groups.setdefault(one.setup.apart_from_intensity, []).append(one)
    return list(groups.values())


def _size(load: Load) -> float:
    """A number by which to compare loads of one kind."""
    return float(load.asked) if load.share is None else load.share
