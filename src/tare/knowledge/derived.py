"""Shared parts of derived findings: rounding of ratios, direction, ids."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

RATIO_DIGITS = 4
"""Ratios are written with four digits after the point."""
LONGEST_ID = 120
"""as of `schema.Slug`"""
_DIGEST = 8


def rounded(ratio: float) -> float:
    """The ratio with the usual digits of findings' ratios."""
    return round(ratio, RATIO_DIGITS)


def direction_of(ratio: float | None) -> Literal["higher", "lower", "none"]:
    """The direction of a ratio of treatment over baseline; None: no difference was seen."""
    if ratio is None or ratio == 1:
        return "none"
    return "higher" if ratio > 1 else "lower"


def joined_id(names: Iterable[str]) -> str:
    """An id of these names; a long id keeps its beginning, with a digest that makes it unique."""
    whole = "+".join(names)
    if len(whole) <= LONGEST_ID:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()[:_DIGEST]
    return f"{whole[: LONGEST_ID - _DIGEST - 1]}-{digest}"
