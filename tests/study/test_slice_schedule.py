"""The slices of a block: every trial in every pass, apart from each other, repeatable."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.study.plan import make_plan
from tare.study.schema import Study
from tare.study.slice_schedule import SETTLE_S, Cut, Schedule, block_seconds, make_schedule

TRIALS = ["D1-B01-native", "D1-B01-bridge", "D1-B01-published"]


def schedule(seed: int = 7, trials: list[str] | None = None, **more: Any) -> Schedule:
    cut: dict[str, Any] = {"warmup_s": 0.5, "measure_s": 3, "length_s": 0.25, "drain_s": 0.03}
    sharing = {name: more.pop(name) for name in ("deployments", "shares") if name in more}
    return make_schedule(trials or TRIALS, Cut(**{**cut, **more}), seed, **sharing)


def test_every_trial_has_its_time_in_whole_slices() -> None:
    made = schedule(measure_s=3.1)
    for trial in range(3):
        own = made.of(trial)
        assert made.measured(trial) == 13
        assert [slot.counts for slot in own] == [False] * 2 + [True] * 13


def test_after_the_warm_up_everything_rests_for_a_moment() -> None:
    """The counter of system calls is closed then; without a warm-up nothing is counted."""

    def gap(made: Schedule) -> float:
        first = next(place for place, slot in enumerate(made.slots) if slot.counts)
        return made.slots[first].at - made.slots[first - 1].at

    assert gap(schedule(settle_s=0.4)) == pytest.approx(gap(schedule()) + 0.4)
    assert schedule(warmup_s=0, settle_s=0.4).slots == schedule(warmup_s=0).slots


def test_every_pass_has_every_trial_once_and_every_third_an_empty_slice() -> None:
    slots = iter(schedule().slots)
    for number in range(14):
        measured = number >= 2
        size = 4 if measured and (number - 2) % 3 == 0 else 3
        turn = Counter(next(slots).trial for _ in range(size))
        assert turn == Counter([0, 1, 2] if size == 3 else [0, 1, 2, None])
    assert next(slots, None) is None


def test_deployments_are_driven_equally_often_however_many_trials_they_have() -> None:
    deployments = ["native", "docker", "docker", "docker"]
    made = schedule(trials=[f"D1-B01-{place}" for place in "abcd"], deployments=deployments)
    driven = [slot.trial for slot in made.slots if slot.trial is not None]
    for first in range(0, len(driven), 2):
        assert len({deployments[trial] for trial in driven[first : first + 2]}) == 2
    assert [made.told(number)["warmup"] for number in range(4)] == [6, 2, 2, 2]
    assert [made.measured(number) for number in range(4)] == [36, 12, 12, 12]
    passes = [driven[first : first + 6] for first in range(0, len(driven), 6)]
    assert all(Counter(one) == {0: 3, 1: 1, 2: 1, 3: 1} for one in passes)
    block = block_seconds([[1], [1, 1, 1]], Cut(0.5, 3, 0.25, 0.03))
    assert block == pytest.approx(made.seconds + 0.015)


def test_a_trial_with_more_shares_has_so_many_slices_in_every_pass() -> None:
    deployments = ["native", "docker", "docker", "docker"]
    made = schedule(
        trials=[f"D1-B01-{place}" for place in "abcd"], deployments=deployments, shares=[1, 2, 1, 1]
    )
    assert [made.told(number)["warmup"] for number in range(4)] == [6, 2, 2, 2]
    assert [made.measured(number) for number in range(4)] == [48, 24, 12, 12]
    measured = [slot.trial for slot in made.slots if slot.counts and slot.trial is not None]
    passes = [measured[first : first + 8] for first in range(0, len(measured), 8)]
    assert all(Counter(one) == {0: 4, 1: 2, 2: 1, 3: 1} for one in passes)
    block = block_seconds([[1], [2, 1, 1]], Cut(0.5, 3, 0.25, 0.03))
    assert block == pytest.approx(made.seconds + 0.015)


def test_a_turn_of_a_whole_pass_has_all_of_a_server_s_conditions_with_their_shares() -> None:
    deployments = ["native", "docker", "docker", "docker"]
    cut = Cut(0.5, 3, 0.05, 0.01, whole=True)
    names = [f"D1-B01-{place}" for place in "abcd"]
    made = make_schedule(names, cut, 7, deployments=deployments, shares=[1, 2, 1, 1])
    slots = [slot for slot in made.slots if slot.counts]
    ends = [0] + [place + 1 for place, slot in enumerate(slots) if slot.last]
    turns = [Counter(one.trial for one in slots[a:b]) for a, b in itertools.pairwise(ends)]
    kinds = [Counter({0: 4}), Counter({1: 2, 2: 1, 3: 1}), Counter([None])]
    assert [turns.count(kind) for kind in kinds] == [60, 60, 20]
    assert len({tuple(one.trial for one in slots[a:b]) for a, b in itertools.pairwise(ends)}) > 6
    gaps = {
        slot.last: round(after.at - slot.at - 0.06, 9)
        for slot, after in itertools.pairwise(made.slots)
    }
    assert gaps == {True: 0.015, False: 0.003}
    assert block_seconds([[1], [2, 1, 1]], cut) == pytest.approx(made.seconds + 0.015)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 99))
def test_no_server_s_share_depends_on_its_trials(sharing: list[int], seed: int) -> None:
    deployments = [f"s{server}" for server, trials in enumerate(sharing) for _ in range(trials)]
    names = [f"c{number}" for number in range(len(deployments))]
    made = schedule(seed, names, deployments=deployments)
    measured = Counter(
        deployments[slot.trial] for slot in made.slots if slot.trial is not None and slot.counts
    )
    assert set(measured.values()) == {12 * max(sharing)}
    for server, trials in enumerate(sharing):
        own = [n for n, one in enumerate(deployments) if one == f"s{server}"]
        counts = [made.measured(number) for number in own]
        assert min(counts) >= 12
        assert max(counts) - min(counts) <= (1 if trials > 1 else 0)
    waits = [made.longest_wait(number) for number in range(len(names))]
    assert max(waits) < made.seconds


@given(st.integers(1, 8), st.integers(0, 99), st.floats(0.02, 2), st.floats(0.001, 0.5))
def test_slices_never_overlap_with_their_drains(
    trials: int, seed: int, length: float, drain: float
) -> None:
    names = [f"D1-B01-c{number}" for number in range(trials)]
    made = schedule(seed, names, length_s=length, drain_s=drain, measure_s=3 * length)
    places = [slot.at for slot in made.slots]
    assert places[0] == 0.0
    assert all(b - a > length + drain for a, b in itertools.pairwise(places))
    told = [made.told(number)["begins_s"] for number in range(trials)]
    assert all(isinstance(one, list) and one[0] == 0.0 for one in told)


def test_the_order_is_the_seed_s_and_differs_from_block_to_block() -> None:
    def order(made: Schedule) -> list[int | None]:
        return [slot.trial for slot in made.slots]

    assert order(schedule()) == order(schedule())
    assert order(schedule()) != order(schedule(seed=8))
    other = [name.replace("B01", "B02") for name in TRIALS]
    assert order(schedule()) != order(schedule(trials=other))


def test_a_plan_s_estimate_is_the_schedule_s_length() -> None:
    document: dict[str, Any] = {
        "study": "x",
        "factors": {"f": {"a": {}, "b": {"platform.runtime": "docker"}}},
        "baseline": {"f": "a"},
        "load": {"warmup": "1s", "measure": "10s"},
        "design": {"deployments": 2, "blocks": 1, "slice": "250ms", "drain": "30ms"},
    }
    estimate = make_plan(Study.model_validate(document)).estimate
    block = block_seconds([[1], [1]], Cut(1, 10, 0.25, 0.03, settle_s=SETTLE_S))
    made = schedule(trials=["a", "b"], warmup_s=1, measure_s=10, settle_s=SETTLE_S)
    assert block == pytest.approx(made.seconds + 0.015)
    assert estimate.breakdown["measure"] == pytest.approx(2 * block)
