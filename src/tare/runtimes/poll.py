"""Polls a unit on another machine, seldom enough not to disturb the measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.runtimes.unit import Exit

AT_MOST_EVERY_S = 2.0
"""asking an orchestrator or a host costs the machine that is measured"""


class RateLimitedPoll:
    """Gives the last answer again until it is old."""

    def __init__(self, poll_once: Callable[[], Exit | None], clock: Callable[[], float]) -> None:
        """Nothing is asked yet.

        Args:
            poll_once: asks whether the unit has ended; what it raises is passed on.
            clock: monotonic seconds.
        """
        self._poll_once = poll_once
        self._clock = clock
        self._last: tuple[float, Exit | None] | None = None

    def exited(self) -> Exit | None:
        """How the unit ended; None: it ran when it was last asked."""
        now = self._clock()
        if self._last is None or now - self._last[0] >= AT_MOST_EVERY_S:
            self._last = now, self._poll_once()
        return self._last[1]
