"""Names and numbers of things in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def listing(names: Sequence[str]) -> str:
    """a, b and c."""
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def either(names: Sequence[str]) -> str:
    """a, b or c."""
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def first_of(names: Sequence[str], most: int) -> str:
    """a, b and 3 more."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def cut(parts: Sequence[str], most: int, of: str = "") -> list[str]:
    """The first parts, then "and 3 more" for the others."""
    more = len(parts) - most
    return [*parts[:most], *([f"and {more:,} more {of}".rstrip()] if more > 0 else [])]


def count(number: int, noun: str, plural: str = "") -> str:
    """1 deployment, 4 deployments."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
