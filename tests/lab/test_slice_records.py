"""What a trial in slices records of its clients."""

from __future__ import annotations

from tare.lab.slice_records import with_cpu_time
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
