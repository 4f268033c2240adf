"""What `tare run` shows while it works: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from rich.live import Live
from rich.text import Text

from tare.cli.console import Terminal
from tare.lab.progress import Progress


class LiveView:
    """Progress for people; in a file or a pipe, lines begin with the time of day."""

    def __init__(self, console: Terminal, now: Callable[[], datetime] = datetime.now) -> None:
        self._console = console
        self._now = now
        self._live = Live(console=console, refresh_per_second=4, transient=True)
        self._last = ("", "")

    def __enter__(self) -> LiveView:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def update(self, progress: Progress) -> None:
        if self._console.is_terminal:
            self._live.update(Text(line(progress)))
        elif (progress.phase, progress.subject) != self._last:
            self._last = (progress.phase, progress.subject)
            if progress.phase in ("preparing", "deploying", "cleaning up"):
                self.say(line(progress))

    def say(self, text: str) -> None:
        stamp = "" if self._console.is_terminal else f"{self._now():%H:%M:%S}  "
        self._console.print(f"{stamp}{text}", soft_wrap=True)


def line(progress: Progress) -> str:
    """The progress in one line."""
    parts = [f"[{progress.done}/{progress.total}]" if progress.total else "", progress.phase]
    parts.append(progress.subject)
    if progress.ops_per_s is not None:
        parts.append(f"{progress.ops_per_s:,.0f} ops/s")
    if progress.p99_us is not None:
        parts.append(f"p99 {progress.p99_us / 1000:.1f} ms")
    if progress.errors:
        parts.append(f"{progress.errors} errors")
    if progress.seconds_left is not None:
        parts.append(_left(progress))
    return "  ".join(part for part in parts if part)


def _left(progress: Progress) -> str:
    minutes = (progress.seconds_left or 0.0) / 60
    if not minutes and progress.done < progress.total:
        return "slower than planned"
    return f"about {minutes:.0f} min left" if minutes >= 1 else "less than a minute left"
