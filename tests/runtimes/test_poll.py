"""A unit is polled seldom; in between, the last answer is repeated."""

from __future__ import annotations

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.poll import AT_MOST_EVERY_S, RateLimitedPoll
from tare.runtimes.unit import Exit


class Unit:
    """A unit with a set answer that counts its polls."""

    def __init__(self) -> None:
        self.asked = 0
        self.now = 100.0
        self.answer: Exit | Exception | None = None

    def look(self) -> Exit | None:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_it_is_asked_once_until_the_answer_is_old() -> None:
    unit = Unit()
    poll = RateLimitedPoll(unit.look, lambda: unit.now)
    assert poll.exited() is None
    unit.answer = Exit(1, "it ended")
    unit.now += AT_MOST_EVERY_S - 0.1
    assert poll.exited() is None
    assert unit.asked == 1
    unit.now += 0.2
    assert poll.exited() == Exit(1, "it ended")
    assert unit.asked == 2


def test_an_engine_that_does_not_answer_is_asked_again_at_once() -> None:
    unit = Unit()
    unit.answer = RuntimeUnavailableError("it cannot be asked")
    poll = RateLimitedPoll(unit.look, lambda: unit.now)
    with pytest.raises(RuntimeUnavailableError):
        poll.exited()
    unit.answer = None
    assert poll.exited() is None
