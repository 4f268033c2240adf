"""Leftovers of dead runs in one runtime, and their removal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from tare.errors import TareError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

T = TypeVar("T")


def _none() -> Mapping[str, list[str]]:
    return {}


@dataclass(frozen=True)
class Left:
    """Everything that carries Tare's labels and belongs to no live run."""

    words: Mapping[str, list[str]]
    """kind to names, for people"""
    remove: Callable[[], list[TareError]]
    """removes them; gives what could not be removed, and why"""
    unanswered: Sequence[str] = ()
    """who could not be asked what they hold, and why"""
    remain: Callable[[], Mapping[str, list[str]]] = _none
    """kind to names of leftovers that are still there, if `remove` does not tell"""


def each(remove: Callable[[T], None], things: Iterable[T]) -> list[TareError]:
    """Remove each of these, even if others fail; what could not be removed, and why."""
    faults = []
    for one in things:
        try:
            remove(one)
        except TareError as error:
            faults.append(error)
    return faults
