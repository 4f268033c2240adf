"""Events inside the database during a trial: compactions and garbage collections."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MOST_EVENTS = 100_000
"""lines read from one file; an hour with 25 pauses a second has as many"""


@dataclass(frozen=True)
class Event:
    """An event with a duration.

    Attributes:
        start, end: Unix times, seconds.
        what: "compaction", "gc pause".
        detail: the node, and what else is known of it.
    """

    start: float
    end: float
    what: str
    detail: Mapping[str, Any]


def write_events(events: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Keep events, one JSON object a line: from, to (Unix s), what, detail."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(event) + "\n" for event in events)


def read_events(path: Path) -> tuple[list[Event], list[str]]:
    """The events of a trial, and a sentence per unreadable line; a missing file holds none."""
    events: list[Event] = []
    damage: list[str] = []
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                if number > MOST_EVENTS:
                    damage.append(f"{path.name}: only the first {MOST_EVENTS:,} lines were read")
                    break
                try:
                    events.append(_event(json.loads(line)))
                except (ValueError, KeyError, TypeError, RecursionError):
                    damage.append(f"{path.name}:{number}: unreadable line")
    except FileNotFoundError:
        pass
    except OSError as error:
        damage.append(f"{path.name} cannot be read: {error.strerror}")
    return events, damage


def _event(line: Mapping[str, Any]) -> Event:
    start, end = float(line["from"]), float(line["to"])
    if not (math.isfinite(start) and math.isfinite(end) and start <= end):
        raise ValueError("no span of time")
    return Event(start, end, str(line["what"]), dict(line.get("detail") or {}))
