"""The journal of a run: one JSON object a line, appended and flushed, the truth for resume."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def utc_now() -> datetime:
    return datetime.now(UTC)


class Journal:
    """Appends events; a line that a crash cut off is no event."""

    def __init__(self, path: Path, now: Callable[[], datetime] = utc_now) -> None:
        self._path = path
        self._now = now
        self._ends_whole = False
        """known once this process has written a line"""

    def write(self, event: str, **facts: Any) -> None:
        """Append one event and wait until the disk has it; first drop a line that a crash cut."""
        line = json.dumps({"at": self._now().isoformat(), "event": event, **facts}, default=str)
        if not self._ends_whole:
            self._drop_cut_line()
        self._ends_whole = False
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._ends_whole = True

    def _drop_cut_line(self) -> None:
        if self._path.exists():
            content = self._path.read_bytes()
            os.truncate(self._path, len(_whole_lines(content)))

    def events(self) -> list[dict[str, Any]]:
        """Every whole event so far.

        Nothing is written: a live run may be appending, or the file may be somebody else's.
        """
        if not self._path.is_file():
            return []
        found: list[dict[str, Any]] = []
        for line in _whole_lines(self._path.read_bytes()).splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                event = json.loads(line)
                if isinstance(event, dict) and isinstance(event.get("event"), str):
                    found.append(event)
        return found

    def lives(self, deployment: str) -> int:
        """Number of clusters that were begun for a deployment of a round, e.g. "D1-native"."""
        return sum(
            e["event"] == "deployment begun" and e.get("of") == deployment for e in self.events()
        )


def _whole_lines(content: bytes) -> bytes:
    return content[: content.rfind(b"\n") + 1]
