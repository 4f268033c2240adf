"""Differences between the two sides of an effect that files of other tools state, beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.parity import PROPERTY, SEVERAL, UNTOLD
from tare.enumeration import first_of
from tare.report import numbers
from tare.report.escaping import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.analysis.model import Analysis, Effect, ParityDifference

MOST_SHOWN = 4
LONGEST = 60


def also_differs(analysis: Analysis, effect: Effect) -> str:
    """A difference that the study does not vary, such as `recordcount 10000000 instead of 2000000`,
    which may cause the effect; empty: none is known, or Tare measured it itself.

    In Tare's own runs the units' facts are compared; the check "parity" warns of differences.
    """
    unexpected = [one for one in analysis.parity if not one.expected]
    if not unexpected or not analysis.imported:
        return ""
    levels = {one.condition: one.levels for one in analysis.conditions}
    before, after = (
        frozenset(effect.conditions_of(side, levels))
        for side in (effect.baseline, effect.treatment)
    )
    found = [text for one in unexpected if (text := _difference(one, before, after))]
    return first_of(found, MOST_SHOWN)


def grid_note(analysis: Analysis, effects: Iterable[Effect]) -> list[str]:
    """`also_differs` for a table of effects, in a sentence: how many effects, and what differs."""
    found = [also_differs(analysis, one) for one in effects]
    named = [one for one in found if one]
    if not named:
        return []
    kinds = list(dict.fromkeys(named))
    more = f"; and {len(kinds) - MOST_SHOWN} other sets" if len(kinds) > MOST_SHOWN else ""
    return [
        f"In {numbers.count(len(named), 'comparison')} of {len(found):,} more differs than the "
        f"study says: {'; '.join(kinds[:MOST_SHOWN])}{more}. These may be the effect."
    ]


def _difference(one: ParityDifference, before: frozenset[str], after: frozenset[str]) -> str:
    """The fact on both sides, where they differ; empty: it is the same."""
    then = [value for value, names in one.values.items() if before.intersection(names)]
    now = [value for value, names in one.values.items() if after.intersection(names)]
    both = (*then, *now)
    if then == now or not then or not now or (one.fact.startswith(PROPERTY) and UNTOLD in both):
        return ""
    if all(SEVERAL in value for value in both):  # it differs from trial to trial, on either side
        return ""
    name = plain(one.fact.removeprefix(PROPERTY))
    return f"{name} {_values(now)} instead of {_values(then)}"


def _values(values: list[str]) -> str:
    texts = (one if len(one) <= LONGEST else f"{one[:LONGEST]}\u2026" for one in values)
    return plain(" or ".join(texts))
