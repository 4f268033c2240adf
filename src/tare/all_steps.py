"""Steps that are all taken, each whatever becomes of the others: so is taken down what was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.errors import TareError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def faults_of(steps: Iterable[Callable[[], object]]) -> list[TareError]:
    """Take all of them; what went wrong, in order. Other exceptions end it at once."""
    faults: list[TareError] = []
    for step in steps:
        try:
            step()
        except TareError as error:
            faults.append(error)
    return faults


def raise_first(faults: Sequence[TareError]) -> None:
    """Nothing where there are none.

    Raises:
        TareError: the first.
    """
    if faults:
        raise faults[0]
