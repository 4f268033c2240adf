"""The decision on MongoDB's protocol code follows from the runs, whichever side wins."""

from __future__ import annotations

from typing import Any

import pytest
from bench.mongo_wire.clients import OPERATIONS
from bench.mongo_wire.measure import SERVICE_US
from bench.mongo_wire.page import decided, markdown


def run(client: str, cpu_us: float, **more: Any) -> list[dict[str, Any]]:
    """Two rounds of every case of one client, the second on a machine that is slower by a tenth."""
    told = {"client_busy": 0.6, "server_busy": 0.99, "per_second": 1e6 / cpu_us, "errors": 0}
    told |= {"p50_off_us": 20.0, "p99_off_us": 90.0, "undisturbed_s": 4.0, "server_cpu_us": 9.0}
    return [
        {"client": client, "operation": operation, "connections": connections, "round": number,
         "timed": timed, "cpu_us": cpu_us * pace, **told, **more}
        for operation in OPERATIONS
        for connections in SERVICE_US
        for timed in (False, True)
        for number, pace in ((1, 1.0), (2, 1.1))
    ]  # fmt: skip


def document(*runs: list[dict[str, Any]]) -> dict[str, Any]:
    machine = {"processor": "a processor", "cpus": 2, "kernel": "6.18"}
    return {
        "began": "2026-11-27T16:00:00",
        "machine": machine,
        "seconds": 8,
        "versions": {"tare": "this checkout", "driver": "3.0.0"},
        "runs": [one for own in runs for one in own],
    }


@pytest.mark.parametrize(
    ("cpu_us", "client_busy", "goes_in"),
    [(9.9, 0.6, True), (10.1, 0.6, False), (9.9, 1.0, False)],
    ids=["cheap", "dear", "the limit"],
)
def test_the_driver_goes_in_only_where_it_is_cheap_and_never_the_limit(
    cpu_us: float, client_busy: float, goes_in: bool
) -> None:
    busy = {"client_busy": client_busy, "server_busy": 0.8}
    *_, verdict = decided(document(run("tare", 5.0), run("driver", cpu_us, **busy)))
    assert verdict == f"So {'it goes in' if goes_in else 'our protocol code stays'}."


@pytest.mark.parametrize(
    ("cpu_us", "said"), [(9.9, "So nothing is decided."), (10.1, "So our protocol code stays.")]
)
def test_a_machine_with_other_work_can_only_refuse_the_driver(cpu_us: float, said: str) -> None:
    disturbed = run("driver", cpu_us, undisturbed_s=0.0)
    _, limit, verdict = decided(document(run("tare", 5.0), disturbed))
    assert "is not known" in limit
    assert verdict == said


def test_one_case_that_is_dear_decides() -> None:
    runs = document(run("tare", 5.0), run("driver", 6.0))
    for one in runs["runs"]:
        if (one["client"], one["operation"], one["connections"]) == ("driver", "update", 256):
            one["cpu_us"] *= 3
    costs, _, verdict = decided(runs)
    assert costs == ("The official driver costs 1.2 to 3.6 times our CPU time; at most 2: no.")
    assert verdict == "So our protocol code stays."


def test_the_table_pairs_rounds_and_names_failures_and_limits() -> None:
    driver = run("driver", 15.0, client_busy=1.0, server_busy=0.5, errors=1)
    text = markdown(document(run("tare", 5.0), driver))
    assert "| read | 1 | tare-load | 200,000 | 5.2 | 1 | 60%, 99% | +20, +90 |" in text
    # The machine's pace cancels: both rounds say three times.
    assert (
        "| update | 256 | official Rust driver (**4 errors**) | 66,667 | 15.8 |"
        " 3.00 [3.00, 3.00] | 100%, 50% (limit) | +20, +90 |" in text
    )


def test_without_the_official_driver_nothing_is_decided() -> None:
    assert list(decided(document(run("tare", 5.0)))) == []


def test_a_round_of_costs_alone_has_a_table_too() -> None:
    runs = document([one for one in run("tare", 5.0) if not one["timed"]])
    assert "| read | 1 | tare-load | 200,000 | 5.2 | 1 | 60%, 99% |  |" in markdown(runs)
