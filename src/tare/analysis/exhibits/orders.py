"""Orders of several things by their values, and the orders that recur."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Order = tuple[tuple[str, ...], ...]
"""Best first; names that share a rank stand together, in alphabetical order."""


def order_of(values: Mapping[str, float], *, lower_first: bool, ties: float = 0.0) -> Order:
    """The names from best to worst.

    Args:
        ties: a value joins the rank of the one before it where they are no further apart than
            this share of the smaller one; 0 joins equal values only.
    """
    ranked = sorted(values, key=lambda name: (values[name] if lower_first else -values[name], name))
    found: list[list[str]] = []
    for name in ranked:
        if found:
            last = values[found[-1][-1]]
            gap, least = abs(values[name] - last), min(abs(values[name]), abs(last))
            if gap <= ties * least:
                found[-1].append(name)
                continue
        found.append([name])
    return tuple(tuple(sorted(rank)) for rank in found)


def ranks(order: Order) -> dict[str, float]:
    """Name to rank from 1; names that share a rank have the mean of their places."""
    found: dict[str, float] = {}
    place = 1
    for names in order:
        found |= dict.fromkeys(names, place + (len(names) - 1) / 2)
        place += len(names)
    return found


def as_text(order: Order) -> str:
    """'native < docker = vm': best first."""
    return " < ".join(" = ".join(names) for names in order)


@dataclass(frozen=True)
class Recurring:
    """What several orders of the same names have in common.

    Attributes:
        names: by mean rank, best first.
        before_next: per name but the last, in how many orders it is before the next one.
        settled: pairs (better, worse) that hold in every order, without the pairs that follow from
            two others.
        same: all orders are the same.
        by_chance: probability that independent random orders would all be the same; None where
            names share ranks, and where all orders come from the same trials.
    """

    names: list[str]
    before_next: list[int]
    settled: list[tuple[str, str]]
    same: bool
    by_chance: float | None


def recurring(
    orders: Sequence[Order], by: Mapping[str, float], independent: int | None = None
) -> Recurring:
    """Compare the orders.

    Args:
        independent: how many of the orders come from trials of their own; None: all.
        orders: at least one, all of the same names.
        by: name to the value that decides the sequence of `names`, lowest first.
    """
    placed = [ranks(order) for order in orders]
    names = sorted(placed[0], key=lambda name: (by[name], name))
    before = [sum(place[a] < place[b] for place in placed) for a, b in itertools.pairwise(names)]
    holds = {
        (a, b)
        for a, b in itertools.permutations(names, 2)
        if all(place[a] < place[b] for place in placed)
    }
    settled = [
        (a, b)
        for a, b in itertools.permutations(names, 2)
        if (a, b) in holds and not any((a, c) in holds and (c, b) in holds for c in names)
    ]
    own = len(orders) if independent is None else independent
    tied = any(len(rank) > 1 for order in orders for rank in order)
    chance = None if tied or own < 2 else (1 / math.factorial(len(names))) ** (own - 1)
    return Recurring(names, before, settled, len(set(orders)) == 1, chance)
