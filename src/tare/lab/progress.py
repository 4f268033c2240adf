"""Events of the lab, for whoever watches a run."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Progress:
    """The state of a run at one moment."""

    phase: str
    """preparing, deploying, populating, warming, measuring, cleaning up"""
    subject: str = ""
    """the deployment or trial it is about"""
    detail: str = ""
    done: int = 0
    """trials finished"""
    total: int = 0
    ops_per_s: float | None = None
    p99_us: float | None = None
    errors: int = 0
    seconds_left: float | None = None
    """for the whole run, from the plan's estimate and the time that has passed"""


class Watcher(Protocol):
    """Somebody who watches."""

    def update(self, progress: Progress) -> None:
        """The state has changed; called about once a second while load runs."""
        ...

    def say(self, text: str) -> None:
        """A line that should stay: a trial's result, a failure, a note."""
        ...


@dataclass
class Silent:
    """A watcher that keeps the messages, for tests and for --json."""

    said: list[str] = field(default_factory=list)

    def update(self, progress: Progress) -> None:
        """Nothing is shown."""

    def say(self, text: str) -> None:
        self.said.append(text)


@dataclass
class Heedless:
    """Tells a watcher that may be gone: a closed terminal or pipe stops nothing."""

    inner: Watcher

    def update(self, progress: Progress) -> None:
        with contextlib.suppress(OSError, SystemExit):  # a console exits on a broken pipe
            self.inner.update(progress)

    def say(self, text: str) -> None:
        with contextlib.suppress(OSError, SystemExit):
            self.inner.say(text)
