"""After a failed trial a run goes on if its runtimes answer, else it is interrupted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.lab.runtime_recovery import await_runtimes
from tare.study.schema import Setup

SETUP = Setup.model_validate({"platform": {"runtime": "docker", "network": "host"}})


class Clock:
    """Time that passes only when somebody waits."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


def runtimes(clock: Clock, back_after: float) -> Any:
    """Docker, which does not answer until then, beside native processes."""
    fault = "no Docker engine answers: connection refused"
    docker = SimpleNamespace(probe=lambda: None if clock.now >= back_after else fault)
    return {"docker": docker, "native": SimpleNamespace(probe=lambda: None)}


def test_where_all_answer_nothing_is_waited_for() -> None:
    clock = Clock()
    await_runtimes(runtimes(clock, 0.0), SETUP, clock, clock.wait)
    assert clock.now == 0


def test_an_engine_that_is_started_again_is_waited_for() -> None:
    clock = Clock()
    await_runtimes(runtimes(clock, 20.0), SETUP, clock, clock.wait)
    assert clock.now >= 20


def test_one_that_stays_away_ends_the_run_with_the_way_to_go_on() -> None:
    clock = Clock()
    with pytest.raises(RuntimeUnavailableError) as caught:
        await_runtimes(runtimes(clock, 1e9), SETUP, clock, clock.wait)
    assert "connection refused" in caught.value.why
    assert "goes on where this ended" in caught.value.remedy
    assert clock.now < 90


def test_a_runtime_that_the_trial_does_not_use_is_not_asked() -> None:
    clock = Clock()
    native = Setup.model_validate({})
    await_runtimes(runtimes(clock, 1e9), native, clock, clock.wait)
    assert clock.now == 0
