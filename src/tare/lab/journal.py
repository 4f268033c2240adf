"""The journal of a run: one JSON object a line, appended and flushed, the truth for resume."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def utc_now() -> datetime:
    return datetime.now(UTC)


class Journal:
    """Appends events; a line that a crash cut off is ignored when it is read."""

    def __init__(self, path: Path, now: Callable[[], datetime] = utc_now) -> None:
        self._path = path
        self._now = now
        self._drop_cut_line()

    def _drop_cut_line(self) -> None:
        if self._path.exists():
            text = self._path.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            if whole != text:
                self._path.write_bytes(whole)

    def write(self, event: str, **facts: Any) -> None:
        """Append one event and wait until the disk has it."""
        line = json.dumps({"at": self._now().isoformat(), "event": event, **facts}, default=str)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())

    def events(self) -> list[dict[str, Any]]:
        """Every whole event so far."""
        if not self._path.exists():
            return []
        found: list[dict[str, Any]] = []
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return found

    def lives(self, deployment: str) -> int:
        """How many clusters have been begun for a deployment of a round, e.g. "D1-native"."""
        return sum(
            e["event"] == "deployment begun" and e.get("of") == deployment for e in self.events()
        )
