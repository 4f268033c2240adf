"""What a trial in slices records of its clients."""

from __future__ import annotations

from tare.lab.slice_records import Replies, with_cpu_time
from tare.records.manifest import ClientResult


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
    return Replies.of({"ops": ops, "ops_per_s": per_s, "responses": told})


def test_a_slice_s_response_times_are_those_of_all_its_clients() -> None:
    told = Replies.sum(
        [interval(30, READ=(10, 200.0), UPDATE=(20, 50.0)), interval(5, READ=(5, 500.0))]
    )
    assert told.ops == 35
    assert told.means() == {"READ": (15, 300.0), "UPDATE": (20, 50.0)}


def test_an_operation_that_was_not_timed_in_a_slice_has_no_mean_there() -> None:
    assert interval(3, READ=(3, 200.0), UPDATE=(0, 0.0)).means() == {"READ": (3, 200.0)}


def test_a_slice_s_rate_is_that_of_all_its_clients() -> None:
    """Without what was answered in the drain: 4 of each client's 104 operations in 20 ms."""
    told = Replies.sum([interval(104, 5000.0), interval(104, 5000.0)])
    assert (told.ops, told.per_s) == (208, 10_000.0)
