"""Consistency levels in questions and findings, and how far two are apart.

The texts are a database's declaration (QUORUM, or reads ONE, writes TWO), or a source's own:
writes acknowledged by 2 members, reads by 1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.knowledge.schema import Operation

_WORD = re.compile(r"[A-Z_]+")
_OF_A_SIDE = {
    side: re.compile(rf"\b{side} (?:acknowledged )?(?:by )?(\w+)") for side in ("reads", "writes")
}
_SIDES: Mapping[str, tuple[str, ...]] = {
    "read": ("reads",),
    **dict.fromkeys(("update", "insert", "write"), ("writes",)),
}
"""Operation to the sides whose level it has; other operations have both."""


def levels_of(text: str) -> dict[str, str]:
    """`reads` and `writes` to their level, as far as the text states it; one word sets both."""
    if _WORD.fullmatch(text):
        return dict.fromkeys(_OF_A_SIDE, text)
    found = {side: pattern.search(text) for side, pattern in _OF_A_SIDE.items()}
    return {side: one[1] for side, one in found.items() if one is not None}


def levels_apart(wanted: str, found: str, operation: Operation) -> float | None:
    """The share of the question in which the levels differ, 0 to 1; an unstated level counts half.

    None where the question states nothing on the sides that this operation has.
    """
    ours, theirs = levels_of(wanted), levels_of(found)
    asked = [side for side in _SIDES.get(operation, tuple(_OF_A_SIDE)) if side in ours]
    if not asked:
        return None
    apart = [0.5 if side not in theirs else float(ours[side] != theirs[side]) for side in asked]
    return sum(apart) / len(apart)
