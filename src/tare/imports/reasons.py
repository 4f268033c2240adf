"""Skipped files, grouped by their reason: faults of a file first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.imports.sources import Skipped

_OWN = re.compile(r"'[^']*'|\"[^\"]*\"|\d[\d.,]*")
"""The parts of a reason that are specific to one file: its content, and numbers."""


@dataclass(frozen=True)
class Reason:
    """Files of one reason.

    Attributes:
        text: the reason as the first file has it.
        fault: something is wrong with them; else they are only none of these trials.
    """

    text: str
    fault: bool
    labels: tuple[str, ...]


def by_reason(skipped: Iterable[Skipped]) -> list[Reason]:
    """Faults first; within each kind rare reasons first, which many others would bury."""
    groups: dict[tuple[bool, str], list[Skipped]] = {}
    for one in skipped:
        groups.setdefault((one.fault, _OWN.sub("...", one.reason)), []).append(one)
    found = [
        Reason(of[0].reason, fault, tuple(one.label for one in of))
        for (fault, _), of in groups.items()
    ]
    return sorted(found, key=lambda reason: (not reason.fault, len(reason.labels)))
