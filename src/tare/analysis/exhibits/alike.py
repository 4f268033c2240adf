"""Lines are averaged over the same levels: over the levels that all lines have, and no others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tare.enumeration import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tare.analysis.exhibits.frame import Frame
    from tare.study.conditions import Condition

MOST_NAMED = 6
"""Combinations of levels that a caption names."""
Levels = tuple[str, ...]


def alike(
    frame: Frame, taken: Sequence[str], having: Iterable[str] | None = None
) -> tuple[Frame, str]:
    """The exhibit without the conditions that would make averages of its lines unlike.

    A mean over reads and writes beside one over writes alone compares workloads, not platforms. In
    each panel (and at each step of x), the exhibit keeps only the combinations of the other
    factors' levels that every line has there. A line without any values there is ignored.

    Args:
        taken: factors of the panels and of x; the factors of the lines are known.
        having: the conditions that have the values shown; without it all that were chosen.

    Returns:
        The exhibit of what stays, and a sentence on what is left out (empty: all stays).
    """
    names = set(frame.by_condition if having is None else having)
    present = [one for one in frame.chosen if one.name in names]
    rest = frame.rest(*frame.lines, *taken)
    held: dict[Levels, dict[Levels, set[Levels]]] = {}
    for one in present:
        lines = held.setdefault(_levels(one, taken), {})
        lines.setdefault(_levels(one, frame.lines), set()).add(_levels(one, rest))
    shared = {place: set.intersection(*lines.values()) for place, lines in held.items()}
    kept = [one for one in present if _levels(one, rest) in shared[_levels(one, taken)]]
    left = dict.fromkeys(
        ", ".join(f"{factor} {one.levels[factor]}" for factor in rest)
        for one in present
        if one not in kept
    )
    return replace(frame, conditions=kept), _left_out(list(left)) if kept else _nothing(rest)


def _levels(condition: Condition, factors: Sequence[str]) -> Levels:
    return tuple(condition.levels[factor] for factor in factors)


def _nothing(rest: Sequence[str]) -> str:
    if not rest:
        return ""
    names = ", ".join(rest)
    return (
        f"The lines share no levels of {names}, so that their averages cannot be compared; with "
        f"panels: [{names}] each is drawn by itself. "
    )


def _left_out(names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = "; ".join(cut(names, MOST_NAMED))
    return f"Left out of the averages, because not all lines have it: {shown}. "
