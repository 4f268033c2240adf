"""Latencies of one operation that contradict each other: an average below the minimum."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tare.imports.file_content import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.imports.file_content import FileReading

_RISING = ("min", "p50", "p95", "p99", "p999", "max")
_AVERAGE = ("min", "mean", "max")
SLACK = 0.02
"""Histograms round to classes: of two equal latencies, one may be printed this much higher."""
_WORDS = {"min": "minimum", "mean": "average", "max": "maximum"}


def refuse_disorder(reading: FileReading) -> None:
    """Returns where every operation's latencies are in order.

    Raises:
        UnreadableError: the first latencies out of order, with their line if it is known.
    """
    reason = next(_disorders(reading), "")
    if reason:
        raise UnreadableError(reason)


def _disorders(reading: FileReading) -> Iterator[str]:
    for operation, own in _by_operation(reading).items():
        for kinds in (_RISING, _AVERAGE):
            there = [kind for kind in kinds if kind in own]
            for low, high in pairwise(there):
                if own[low] > own[high] * (1 + SLACK) + reading.step_us:
                    wrong, bound = (high, low) if high != "max" else (low, high)
                    yield _words(reading, operation, wrong, bound, own)


def _words(
    reading: FileReading, operation: str, wrong: str, bound: str, own: dict[str, float]
) -> str:
    line = reading.lines.get(f"{operation}.{wrong}")
    place = f"line {line}: " if line is not None else ""
    below = "below" if own[wrong] < own[bound] else "above"
    return (
        f"{place}{operation}: the {_name(wrong)}, {own[wrong]:,.6g} us, is {below} the "
        f"{_name(bound)}, {own[bound]:,.6g} us"
    )


def _name(kind: str) -> str:
    return _WORDS.get(kind, kind)


def _by_operation(reading: FileReading) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for metric, value in (reading.values | reading.least).items():
        operation, _, kind = metric.rpartition(".")
        if operation:
            found.setdefault(operation, {})[kind] = value
    return found
