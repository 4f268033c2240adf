"""tare-load's specification follows from the condition's setup alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.load.specification import specification
from tare.study.schema import Consistency, Database, Load, Setup

SETUP = Setup(
    database=Database(consistency=Consistency(read="ONE", write="ALL")),
    load=Load(workload="ycsb-b", records=500, threads=12, warmup=1.0, measure=4.0),
)


def spec(setup: Setup = SETUP, phase: str = "measure", **more: object) -> dict[str, object]:
    return specification(
        setup,
        name="t",
        client="c1",
        targets=["127.0.0.1:9042"],
        phase=phase,
        seed=3,
        **more,  # type: ignore[arg-type]  # literals come from parametrisation
    )


def test_a_trial_has_warm_up_and_measured_part_and_a_histogram_log() -> None:
    made = spec(hlog=Path("/x/latency-c1.hlog"))
    assert (made["phase"], made["warmup_s"], made["measure_s"]) == ("run", 1.0, 4.0)
    assert made["hlog"] == "/x/latency-c1.hlog"
    assert made["consistency"] == {"read": "ONE", "write": "ALL"}
    assert made["threads"] == 12


def test_a_later_load_leaves_the_rows_of_earlier_ones_to_them() -> None:
    """An insert of an existing row is an update in Cassandra, and an error in MongoDB."""
    inserting = SETUP.model_copy(update={"load": Load(workload="ycsb-d", records=500)})
    after = 2**32
    told = {
        phase: dict(spec(inserting, phase=phase, inserted_before=after)["workload"])  # type: ignore[call-overload]  # a JSON object
        for phase in ("populate", "warm", "measure")
    }
    assert told["warm"]["inserted_before"] == told["measure"]["inserted_before"] == after
    assert "inserted_before" not in told["populate"]


def test_members_of_a_set_are_reached_at_the_endpoint_s_addresses() -> None:
    url, there = "mongodb://172.30.0.1:27017/ycsb?replicaSet=d1", {"172.30.0.1:27017": "10.0.0.9:1"}
    assert spec(mongodb=url, reached=there)["reached"] == there
    assert "reached" not in spec(mongodb=url)


def test_populating_uses_its_own_threads_and_no_rate() -> None:
    open_loop = SETUP.model_copy(update={"load": Load(rate=100.0)})
    made = spec(open_loop, phase="populate")
    assert (made["phase"], made["rate"]) == ("populate", None)


def test_warming_is_a_closed_loop_even_where_trials_are_open() -> None:
    open_loop = SETUP.model_copy(update={"load": Load(rate=100.0)})
    assert spec(open_loop, phase="warm", longest_s=60.0)["rate"] is None
    assert spec(open_loop)["rate"] == 100.0


@pytest.mark.parametrize(("per", "each"), [("client", 90.0), ("condition", 30.0)])
def test_a_rate_is_each_clients_or_that_of_all_of_them(per: str, each: float) -> None:
    load = Load.model_validate({"rate": 90.0, "rate_per": per})
    three = SETUP.model_copy(update={"load": load, "clusters": 3})
    assert spec(three)["rate"] == each


@pytest.mark.parametrize(
    ("workload", "table", "mix"),
    [
        ("ycsb-a", "usertable", {"read": 0.5, "update": 0.5}),
        ("ycsb-b", "usertable", {"read": 0.95, "update": 0.05}),
        ("ycsb-c", "usertable", {"read": 1.0, "update": 0.0}),
        ("stress-mixed", "standard1", {"read": 1.0, "write": 1.0}),
        ("stress-read", "standard1", {"read": 1.0, "write": 0.0}),
        ("stress-write", "standard1", {"read": 0.0, "write": 1.0}),
    ],
)
def test_each_workload_has_its_table_and_mix(
    workload: str, table: str, mix: dict[str, float]
) -> None:
    made = spec(Setup(load=Load(workload=workload)))  # type: ignore[arg-type]  # parametrised literal
    assert made["table"] == table
    assert mix.items() <= dict(made["workload"]).items()  # type: ignore[call-overload]  # a JSON object


def test_phases_replace_the_rate_while_it_is_measured_and_only_then() -> None:
    load = Load.model_validate({"phases": [{"for": "5s", "rate": 10}, {"for": "5s", "rate": 20}]})
    phased = SETUP.model_copy(update={"load": load})
    made = spec(phased)
    assert (made["rate"], made["measure_s"]) == (None, 10.0)
    assert len(made["schedule"]) == 4  # type: ignore[arg-type]  # a list
    assert "schedule" not in spec(phased, phase="warm")


def test_a_load_whose_number_is_yet_to_be_found_warms_up_with_many_in_flight() -> None:
    sought = SETUP.model_copy(update={"load": Load(threads="66% of max")})
    assert spec(sought, phase="warm", longest_s=5.0)["threads"] == 64


def test_statements_of_ones_own_have_a_keyspace_but_no_single_table() -> None:
    own = Load.model_validate({"statements": {"keyspace": "app"}})
    made = spec(SETUP.model_copy(update={"load": own}))
    assert (made["keyspace"], made["table"]) == ("app", None)
