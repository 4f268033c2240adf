"""Nodes that prepare files for others end together and by themselves, within the time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from tare.errors import ClusterError
from tare.lab.own_deployment import end_by_themselves
from tare.runtimes.unit import Exit, Running


class Time:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def wait(self, seconds: float) -> None:
        self.now += seconds


class Node:
    """Ends this many seconds after it was told to."""

    unit = SimpleNamespace(site=SimpleNamespace(name="n1"))

    def __init__(self, time: Time, takes_s: float) -> None:
        self.time = time
        self.takes_s = takes_s
        self.told: float | None = None

    def terminate(self) -> None:
        self.told = self.time.now

    def exited(self) -> Exit | None:
        assert self.told is not None, "it is told before it is waited for"
        return Exit.of(143) if self.time.now >= self.told + self.takes_s else None


def ends(within_s: float, *takes_s: float) -> tuple[list[Exit], float]:
    time = Time()
    nodes = [cast("Running", Node(time, one)) for one in takes_s]
    return end_by_themselves(nodes, within_s, lambda: time.now, time.wait), time.now


def test_all_are_told_at_once_and_waited_for() -> None:
    found, took_s = ends(60.0, 10.0, 12.0, 0.0)
    assert found == [Exit.of(143)] * 3
    assert took_s == pytest.approx(12.0, abs=0.2)


def test_one_that_does_not_end_in_time_is_an_error() -> None:
    with pytest.raises(ClusterError, match="did not stop") as caught:
        ends(60.0, 10.0, 61.0)
    assert caught.value.where == "n1"
