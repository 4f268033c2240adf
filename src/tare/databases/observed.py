"""A trial as seen by the database's nodes: growth of counters, events, and failed readings."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Observed:
    """What was seen over the measured part.

    Attributes:
        counts: name to growth, summed over the nodes; only names that every node reported.
        events: {"from": Unix s, "to": Unix s, "what": ..., "detail": {...}}, by time.
        notes: what could not be read.
    """

    counts: dict[str, float] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def in_time(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events by time."""
    return sorted(events, key=lambda e: (e["from"], e["to"]))


class Observation:
    """Collects an `Observed` over nodes; whatever fails becomes a note, because the trial is sound.

    Attributes:
        stack: closes the nodes' connections.
        faults: what could not be read.
    """

    def __init__(self) -> None:
        self.stack = ExitStack()
        self.faults: list[str] = []
        self._grown: dict[str, list[float]] = defaultdict(list)
        self._events: list[dict[str, Any]] = []

    def attempt(self, where: str, action: Callable[[], None]) -> None:
        """Do it; it may fail with any error."""
        try:
            action()
        except Exception as error:  # whatever it is, the trial itself is sound
            self.faults.append(f"the database's own metrics could not be read ({where}): {error}")

    def add(self, grown: Mapping[str, float], events: list[dict[str, Any]]) -> None:
        """Add the report of one node."""
        for name, value in grown.items():
            self._grown[name].append(value)
        self._events += events

    def of(self, nodes: int) -> Observed:
        """Everything added, of this many nodes."""
        if self.faults:  # a sum over some of the nodes would pass for one over all
            return Observed(events=in_time(self._events), notes=self.faults)
        whole = {name: sum(v) for name, v in self._grown.items() if len(v) == nodes}
        return Observed(whole, in_time(self._events), [])

    def close(self) -> None:
        self.attempt("connections", self.stack.close)
