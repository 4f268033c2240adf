"""Gives a measurement outside of a study the machine to itself, like a run."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tare.lab import clean
from tare.lab.run_lock import RunLock
from tare.machines.awake import awake, idle_cpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def alone(run: str, say: Callable[[str], None]) -> Iterator[str]:
    """Nothing else of Tare's runs here, and nothing is left behind.

    Args:
        run: the name by which things are labelled.
        say: told what could not be removed.

    Yields:
        What idle CPUs do meanwhile: poll; or halt, and why.

    Raises:
        LabBusyError: a run holds this machine.
    """
    with RunLock(run), clean.swept(say), awake() as why_not:
        yield idle_cpus(why_not)
