"""When a run ends early: its time limit, and the interim looks that may decide it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tare.lab.directory import BEGUN, EXTENDED
from tare.records.looks import Look, Why

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.study.plan import Plan

Judge = Callable[[int, Why], Look]
"""Looks at the run after this round, keeps the look, and says whether it is decided. The answer
after the same round is always the same."""
RESUMED = "run resumed"


@dataclass
class TimeLimit:
    """Whether another round ends within design.at_most.

    Attributes:
        limit: seconds; None: no limit.
        spent: seconds of sessions before this one.
        planned: seconds that a round should take at most.
        longest: seconds that the longest round of this session took.
    """

    limit: float | None
    spent: float
    planned: float
    longest: float = 0.0

    def took(self, seconds: float) -> None:
        """Note how long a finished round took."""
        self.longest = max(self.longest, seconds)

    def allows(self, passed: float) -> bool:
        """Whether a round that begins now ends in time.

        Args:
            passed: seconds since this session began.
        """
        if self.limit is None:
            return True
        return self.spent + passed + (self.longest or self.planned) <= self.limit


def time_limit(plan: Plan, events: Sequence[dict[str, Any]]) -> TimeLimit:
    """The limit of a run that had these events before this session."""
    need = plan.estimate
    planned = (need.seconds - need.setup_seconds) / max(len(plan.rounds), 1)
    return TimeLimit(plan.study.design.at_most, seconds_spent(events), planned)


def seconds_spent(events: Sequence[dict[str, Any]]) -> float:
    """Seconds that a run worked since it was begun or extended, from its journal."""
    total, since, last = 0.0, 0.0, 0.0
    for event in events:
        at = datetime.fromisoformat(event["at"]).timestamp()
        if event["event"] in (BEGUN, EXTENDED):
            total, since = 0.0, at
        elif event["event"] == RESUMED:
            total, since = total + last - since, at
        last = at
    return total + last - since
