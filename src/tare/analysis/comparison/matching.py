"""Which condition of one run is which of another: by name, by levels, or as the user says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import first_of
from tare.errors import UsageError
from tare.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.analysis.model import Analysis


def match_conditions(a: Analysis, b: Analysis, renamed: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs (condition in A, condition in B), in B's order.

    A condition is paired as the user says. Without a word of the user, its partner is the condition
    with the same levels, in any order of the factors; failing that, the condition of the same name.
    Each condition has one partner at most.

    Args:
        renamed: condition or level in A to its name in B.

    Raises:
        UsageError: a name in `renamed` that its run does not have, or no pair at all.
    """
    _refuse_unknown(a, b, renamed)
    names = {c.condition: c.levels for c in b.conditions}
    by_levels = {frozenset(levels.items()): name for name, levels in names.items()}
    partners: dict[str, str] = {}
    for condition in a.conditions:
        own = {f: renamed.get(level, level) for f, level in condition.levels.items()}
        moved = own != condition.levels
        wanted = renamed.get(condition.condition)
        if wanted is None or wanted not in names:
            wanted = by_levels.get(frozenset(own.items()))
            if wanted is None and not moved and condition.condition in names:
                wanted = condition.condition
        if wanted is not None and wanted not in partners:
            partners[wanted] = condition.condition
    pairs = [(partners[name], name) for name in names if name in partners]
    if not pairs:
        raise UsageError(
            "the two runs have no condition in common",
            why=f"A has {_listing(a)}; B has {_listing(b)}",
            remedy="say which is which with --map NAME_IN_A=NAME_IN_B",
        )
    return pairs


def _refuse_unknown(a: Analysis, b: Analysis, renamed: Mapping[str, str]) -> None:
    for side, run, names in (("A", a, renamed.keys()), ("B", b, renamed.values())):
        known = {c.condition for c in run.conditions}
        known |= {level for c in run.conditions for level in c.levels.values()}
        for name in names:
            if name not in known:
                raise UsageError(
                    f"run {side} has no condition and no level {name!r}",
                    where="--map",
                    why=f"it has {_listing(run)}",
                    remedy=did_you_mean(name, sorted(known), "use one of these names"),
                )


def _listing(run: Analysis, most: int = 12) -> str:
    return first_of([c.condition for c in run.conditions], most) or "none"
