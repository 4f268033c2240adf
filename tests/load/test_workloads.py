"""tare-load's specification of workloads, mixes over time, and the user's own statements."""

from __future__ import annotations

from typing import Any

import pytest

from tare.load.workloads import mixes, schedule, workload
from tare.study.load import Load
from tare.study.schema import Setup

STATEMENTS: dict[str, Any] = {
    "operations": {
        "get": {
            "cql": "SELECT v FROM t WHERE k = ?",
            "weight": 8,
            "values": {"k": {"zipf": "records", "format": "k%d"}},
        },
        "put": {
            "cql": " insert INTO t (k, v) VALUES (?, ?)",
            "weight": 2,
            "consistency": "ALL",
            "values": {"k": {"uniform": "records"}, "v": {"blob": 10}},
        },
    },
    "populate": {"operation": "put", "values": {"k": {"sequence": "records"}}},
}


def told(**load: Any) -> dict[str, Any]:
    levels = {"read": "ONE", "write": "QUORUM"}
    return workload(Setup.model_validate({"load": load, "database": {"consistency": levels}}))


@pytest.mark.parametrize(
    ("name", "mix", "distribution"),
    [
        ("ycsb-a", {"read": 0.5, "update": 0.5}, "zipfian"),
        ("ycsb-b", {"read": 0.95, "update": 0.05}, "zipfian"),
        ("ycsb-c", {"read": 1.0, "update": 0.0}, "zipfian"),
        ("ycsb-d", {"read": 0.95, "insert": 0.05}, "latest"),
        ("ycsb-e", {"scan": 0.95, "insert": 0.05}, "zipfian"),
        ("ycsb-f", {"read": 0.5, "readmodifywrite": 0.5}, "zipfian"),
    ],
)
def test_ycsb_workloads_are_those_of_ycsbs_files(
    name: str, mix: dict[str, float], distribution: str
) -> None:
    made = told(workload=name)
    assert made | mix == made
    assert (made["distribution"], made["fields"], made["field_length"]) == (distribution, 10, 100)


def test_counters_are_told_as_such() -> None:
    assert told(workload="stress-counter-write")["counter"] is True
    assert "counter" not in told(workload="stress-write")


def test_a_mix_of_ones_own_replaces_the_workloads() -> None:
    made = told(workload="ycsb-a", mix={"scan": 3, "insert": 1}, distribution="uniform", fields=2)
    assert (made["read"], made["update"], made["scan"], made["insert"]) == (0.0, 0.0, 3.0, 1.0)
    assert (made["distribution"], made["fields"]) == ("uniform", 2)


def test_cassandra_stresss_ratio_is_a_mix() -> None:
    made = told(workload="stress-mixed", mix={"write": 1, "read": 3})
    assert (made["read"], made["write"]) == (3.0, 1.0)
    made = told(workload="stress-mixed")
    assert (made["read"], made["write"]) == (1.0, 1.0)


def test_a_statement_has_its_own_level_or_that_of_what_it_is() -> None:
    get, put = told(statements=STATEMENTS)["operations"]
    assert (get["name"], get["weight"], get["consistency"]) == ("GET", 8.0, "ONE")
    assert (put["name"], put["consistency"]) == ("PUT", "ALL")
    assert get["values"]["k"]["last"] == 99_999


def test_rows_are_filled_by_an_operations_statement_with_its_keys_in_order() -> None:
    populate = told(statements=STATEMENTS, records=50)["populate"]
    assert populate["cql"].strip().startswith("insert")
    assert (populate["values"]["k"]["distribution"], populate["values"]["k"]["last"]) == (
        "sequence", 49,
    )  # fmt: skip
    assert populate["values"]["v"]["kind"] == "blob"


def test_rows_may_be_filled_by_a_statement_of_their_own_or_not_at_all() -> None:
    own = {"cql": "INSERT INTO t (k) VALUES (?)", "values": {"k": {"sequence": "records"}}}
    made = told(statements=STATEMENTS | {"populate": own})["populate"]
    assert (made["name"], made["consistency"]) == ("POPULATE", "QUORUM")
    assert told(statements=STATEMENTS | {"populate": None})["populate"] is None


def test_phases_are_corners_of_a_rate_and_a_step_has_two_at_one_time() -> None:
    load = Load.model_validate(
        {"phases": [{"for": "30s", "rate": 1000, "to": 2000}, {"for": "10s", "rate": 500}]}
    )
    assert schedule(load) == [
        {"at_s": 0.0, "rate": 1000.0},
        {"at_s": 30.0, "rate": 2000.0},
        {"at_s": 30.0, "rate": 500.0},
        {"at_s": 40.0, "rate": 500.0},
    ]
    assert schedule(Load()) is None


def test_a_rate_of_the_condition_is_divided_among_its_clusters_in_phases_too() -> None:
    phases = [{"for": "30s", "rate": 1000, "to": 2000}]
    load = Load.model_validate({"phases": phases, "rate_per": "condition"})
    assert schedule(load, clusters=4) == [
        {"at_s": 0.0, "rate": 250.0},
        {"at_s": 30.0, "rate": 500.0},
    ]
    assert schedule(Load.model_validate({"phases": phases}), clusters=4) == [
        {"at_s": 0.0, "rate": 1000.0},
        {"at_s": 30.0, "rate": 2000.0},
    ]


def test_a_phases_mix_leaves_out_what_it_does_not_name() -> None:
    load = Load.model_validate(
        {
            "statements": STATEMENTS,
            "phases": [{"for": 5, "rate": 9.0}, {"for": 5, "rate": 9.0, "mix": {"put": 1}}],
        }
    )
    assert mixes(load) == [
        {"at_s": 0.0, "weights": {"GET": 8.0, "PUT": 2.0}},
        {"at_s": 5.0, "weights": {"GET": 0.0, "PUT": 1.0}},
    ]
    assert mixes(Load()) is None
