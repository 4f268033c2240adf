"""The time that a block's clients have from their launch until all begin."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tare.lab.head_start import LEAST_S, HeadStarts


def clients(number: int, runtime_s: float = 2.0) -> list[Any]:
    return [SimpleNamespace(head_start_s=runtime_s)] * number


def test_clients_that_were_never_seen_have_their_runtimes_head_start_and_half_a_second_each() -> (
    None
):
    assert HeadStarts().seconds(clients(6)) == 5.0


def test_the_next_ones_have_twice_the_longest_that_such_clients_needed() -> None:
    known = HeadStarts()
    known.needed(clients(6), 0.9)
    known.needed(clients(6), 0.7)
    assert known.seconds(clients(6)) == 1.8
    assert known.seconds(clients(7)) == 5.5
    assert known.seconds(clients(6, runtime_s=4.0)) == 7.0


def test_a_head_start_is_never_shorter_than_a_second_nor_longer_than_the_usual_one() -> None:
    known = HeadStarts()
    known.needed(clients(6), 0.1)
    assert known.seconds(clients(6)) == LEAST_S
    known.needed(clients(6), 4.0)
    assert known.seconds(clients(6)) == 5.0


def test_after_a_client_that_came_too_late_all_have_the_usual_one_again() -> None:
    known = HeadStarts()
    known.needed(clients(6), 0.5)
    known.missed(clients(6))
    assert known.seconds(clients(6)) == 5.0
