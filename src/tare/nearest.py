"""The known name that a mistyped one was probably meant to be."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(wanted: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The known name that the wanted one was probably meant to be, `alike` from 0 to 1."""
    names = list(known)
    lower = {name.lower(): name for name in reversed(names)}
    found = difflib.get_close_matches(wanted.lower(), lower, n=1, cutoff=alike)
    return lower[found[0]] if found else None


def did_you_mean(wanted: str, known: Iterable[str], otherwise: str) -> str:
    """The remedy for a name that is not known: the nearest one, or this other advice."""
    near = nearest(wanted, known)
    return f"did you mean {near}?" if near else otherwise
