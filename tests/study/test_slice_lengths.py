"""A slice and its drain are as long as operations in flight need, and no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.study.conditions import expand
from tare.study.slice_lengths import (
    ANSWERED_IN_SLICE,
    LEAST_SLICE_S,
    TURN_S,
    USUAL_SLICE_S,
    answered_s,
    drain_of,
    drain_s,
    slice_in_turn_s,
)

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("load: {threads: 1}\ndatabase: {nodes: 1, replication_factor: 1}\n", 1),
        ("load: {threads: 8}\ndatabase: {nodes: 3}\n", 24),
        ("load: {threads: 8}\ndatabase: {nodes: 3}\nclusters: 2\n", 48),
        ("load: {threads: 66% of max}\ndatabase: {nodes: 1, replication_factor: 1}\n", 32),
    ],
)
def test_what_is_in_flight_takes_longer_with_more_operations_nodes_and_clusters(
    read: ReadStudy, text: str, times: int
) -> None:
    alone, setup = (
        expand(read("study: x\n" + one))[0].setup
        for one in ("load: {threads: 1}\ndatabase: {nodes: 1, replication_factor: 1}\n", text)
    )
    assert answered_s(setup) == pytest.approx(times * answered_s(alone))


@pytest.mark.parametrize(
    ("load", "least"),
    [
        ("workload: ycsb-c", 0.0062),
        ("workload: ycsb-a, mix: {read: 1}", 0.0062),
        ("workload: ycsb-a", 0.025),
        ("workload: ycsb-c, mix: {read: 9, update: 1}", 0.025),
    ],
)
def test_writes_have_longer_drains_than_reads(read: ReadStudy, load: str, least: float) -> None:
    one = f"load: {{{load}, threads: 2}}\ndatabase: {{nodes: 1, replication_factor: 1}}\n"
    (condition,) = expand(read("study: x\n" + one))
    assert drain_s(condition.setup) == pytest.approx(least)


def test_a_drain_is_no_longer_than_a_usual_slice(read: ReadStudy) -> None:
    (condition,) = expand(read("study: x\nload: {threads: 5000}\n"))
    assert drain_s(condition.setup) == USUAL_SLICE_S


def test_few_operations_in_flight_have_the_shortest_slices() -> None:
    assert slice_in_turn_s(6, 0.001) == LEAST_SLICE_S == pytest.approx(TURN_S / 6)
    assert slice_in_turn_s(2, 0.001) == pytest.approx(TURN_S / 2)


def test_a_turn_of_one_slice_is_worth_a_thaw() -> None:
    assert slice_in_turn_s(1, 0.001) == USUAL_SLICE_S


def test_a_slice_holds_all_that_is_in_flight_several_times() -> None:
    assert slice_in_turn_s(6, 0.02) == pytest.approx(ANSWERED_IN_SLICE * 0.02)
    assert slice_in_turn_s(6, 10.0) == USUAL_SLICE_S


def test_a_drain_is_longer_than_all_that_is_in_flight_takes() -> None:
    assert 0.001 < drain_of(0.001) < 0.01
    assert drain_of(0.02) > 2 * 0.02
