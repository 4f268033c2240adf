"""Takes every step even if others fail: what was made is taken down in this way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.errors import TareError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def faults_of(steps: Iterable[Callable[[], object]]) -> list[TareError]:
    """Take all steps; returns Tare's errors in order. Any other exception ends it at once."""
    faults: list[TareError] = []
    for step in steps:
        try:
            step()
        except TareError as error:
            faults.append(error)
    return faults


def raise_first(faults: Sequence[TareError]) -> None:
    """Raise the first fault, if there is one.

    Raises:
        TareError: the first fault.
    """
    if faults:
        raise faults[0]
