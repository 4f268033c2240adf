"""What a trial in slices records about its clients."""

from __future__ import annotations

from typing import Any

import pytest

from tare.lab.conductor import Driven
from tare.lab.counted_calls import (
    NO_SUCCESS,
    NOT_HERE,
    NOT_TOLD,
    begin_counting,
    counted_calls,
    per_operation,
)
from tare.lab.slice_records import Replies, of_all_operations, summed, with_cpu_time
from tare.machines.cgroups import Accounting
from tare.machines.machine import HERE
from tare.monitor.meter import CpuReading
from tare.records.manifest import Calls, ClientResult
from tare.study.slice_schedule import Cut, Slot, make_schedule


def result(client: str, ok: int) -> ClientResult:
    return ClientResult.model_construct(client=client, ok=ok, cpu_us_per_op=50.0)


def test_a_client_s_cpu_time_is_that_of_its_unit_in_the_slices_not_of_its_waits() -> None:
    told = [result("c1", 100), result("c2", 50)]
    units = {"n1": 1.0, "c1": 0.003, "c2": 0.001}
    assert [one.cpu_us_per_op for one in with_cpu_time(told, units)] == [30.0, 20.0]


def test_a_client_without_a_unit_or_an_answer_keeps_what_it_told_itself() -> None:
    told = [result("elsewhere", 100), result("c1", 0)]
    assert with_cpu_time(told, {"c1": 0.003}) == told


def interval(ops: int, per_s: float = 0.0, **responses: tuple[int, float]) -> Replies:
    told = {name: {"timed": n, "mean_us": mean} for name, (n, mean) in responses.items()}
    answered = {"within": ops - 4, "drained": 4}
    return Replies.of({"ops": ops, "ops_per_s": per_s, **answered, "responses": told})


def test_a_slice_s_response_times_are_those_of_all_its_clients() -> None:
    told = Replies.sum(
        [interval(30, READ=(10, 200.0), UPDATE=(20, 50.0)), interval(5, READ=(5, 500.0))]
    )
    assert told.ops == 35
    assert told.means() == {"READ": (15, 300.0), "UPDATE": (20, 50.0)}


def test_an_operation_that_was_not_timed_in_a_slice_has_no_mean_there() -> None:
    assert interval(3, READ=(3, 200.0), UPDATE=(0, 0.0)).means() == {"READ": (3, 200.0)}


def test_a_slice_s_rate_is_that_of_all_its_clients() -> None:
    """Without operations answered in the drain: 4 of each client's 104 operations in 20 ms."""
    told = Replies.sum([interval(104, 5000.0), interval(104, 5000.0)])
    assert (told.ops, told.per_s) == (208, 10_000.0)
    assert (told.within, told.drained) == (200, 8)


def test_operations_that_are_under_way_when_the_load_ends_have_had_half_of_their_cpu_time() -> None:
    """96 answered within the slice and 4 in its drain: what was used by then is of 98 of 100."""
    driven = [slice_of(0, counts=True, server_faults=49), slice_of(1, counts=True)]
    whole = of_all_operations(driven, 0, [(96, 4)])
    assert whole[0].used.units["n1"] == pytest.approx(100 / 98)
    assert whole[0].used.machine == pytest.approx(1.5 * 100 / 98)
    assert whole[0].used.counts["server_faults"] == pytest.approx(50)
    assert whole[1] is driven[1], "other trials' slices stay"


def test_slices_of_the_warm_up_and_those_without_an_answer_stay_as_they_are() -> None:
    driven = [slice_of(0, counts=False), slice_of(0, counts=True), slice_of(0, counts=True)]
    assert of_all_operations(driven, 0, [(0, 0)]) == driven


def slice_of(trial: int | None, *, counts: bool, calls: Any = None, **counted: int) -> Driven:
    used = CpuReading(1.5, 0.0, 0.0, 0.0, {"n1": 1.0, "c1": 0.5}, {"softirq": 0.0}, counted)
    return Driven(Slot(trial, 0.0, counts, 0, True), 0.0, used, 1.0, False, calls or {})


def test_a_slice_in_which_switches_are_not_known_counts_as_the_others_do() -> None:
    driven = [
        slice_of(0, counts=True, server_switches=100, server_faults=4),
        slice_of(0, counts=True, server_faults=6),
        slice_of(None, counts=True, switches=7),
    ]
    assert summed(driven, 0).counts == {"server_switches": 200, "server_faults": 10}


CALLS = {
    "n1": {"calls": 30, "futex": 10},
    "c1": {"calls": 5, "futex": 1},
}


def test_calls_are_those_of_the_warm_up_by_role_and_kind() -> None:
    driven = [
        slice_of(0, counts=False, calls=CALLS),
        slice_of(1, counts=False, calls={"n1": {"calls": 1000, "futex": 1000}}),
        slice_of(0, counts=False, calls=CALLS),
        slice_of(0, counts=True),
    ]
    found = counted_calls(driven, 0, [6, 4], {"n1"}, idle_s=0.5)
    assert isinstance(found, Calls)
    assert found.counts == {
        "server_calls": 60,
        "server_futex_calls": 20,
        "client_calls": 10,
        "client_futex_calls": 2,
    }
    assert (found.slices, found.operations) == (2, 10)
    assert found.demand_us == pytest.approx(1e6 * (3.0 - 1.0) / 10)
    assert per_operation(found)["server_calls"] == 6.0


def test_where_calls_were_not_counted_it_is_told_why() -> None:
    warm = slice_of(0, counts=False, calls=CALLS)
    assert counted_calls([warm, warm], 0, [6], {"n1"}, 0.0) == NOT_TOLD
    assert counted_calls([warm], 0, [0], {"n1"}, 0.0) == NO_SUCCESS
    assert counted_calls([warm, slice_of(0, counts=False)], 0, [6, 4], {"n1"}, 0.0) == NOT_HERE
    assert per_operation(NOT_TOLD) == {}


def test_what_cannot_be_counted_is_told_before() -> None:
    warm = make_schedule(["a"], Cut(0.25, 1.0, 0.25, 0.03), seed=1)
    none = make_schedule(["a"], Cut(0.0, 1.0, 0.25, 0.03), seed=1)
    assert begin_counting([Accounting(machine=HERE)], none) == (
        "load.warmup is 0, and calls are counted while a block warms up"
    )
    host: Any = object()
    assert begin_counting([Accounting(machine=host)], warm) == "servers run on other hosts"
