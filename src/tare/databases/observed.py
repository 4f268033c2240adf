"""What a database's own nodes told of a trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Observed:
    """What was seen over the measured part.

    Attributes:
        counts: name to growth, summed over the nodes; a name is there only if every node told it.
        events: {"from": Unix s, "to": Unix s, "what": ..., "detail": {...}}, by time.
        notes: what could not be read.
    """

    counts: dict[str, float] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def in_time(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events by time."""
    return sorted(events, key=lambda e: (e["from"], e["to"]))
