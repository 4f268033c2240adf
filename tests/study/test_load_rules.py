"""Loads that contradict themselves are refused with the line, the reason and the edit."""

from __future__ import annotations

from typing import Any

import pytest

from tare.study.load_rules import load_problems
from tare.study.origins import Origins
from tare.study.problems import ConditionProblems
from tare.study.schema import Setup

OWN: dict[str, Any] = {
    "tables": ["CREATE TABLE IF NOT EXISTS t (k text PRIMARY KEY, v blob)"],
    "populate": {"operation": "put", "values": {"k": {"sequence": "records", "format": "k%d"}}},
    "operations": {
        "get": {"cql": "SELECT v FROM t WHERE k = ?", "values": {"k": {"zipf": "records"}}},
        "put": {
            "cql": "INSERT INTO t (k, v) VALUES (?, ?)",
            "values": {"k": {"uniform": "records"}, "v": {"blob": 10}},
        },
    },
}


def problems(load: dict[str, Any], **more: Any) -> list[str]:
    setup = Setup.model_validate({"load": load, **more})
    return [one.what for one in load_problems(setup, ConditionProblems(Origins({}), "base"))]


def own(**changes: Any) -> dict[str, Any]:
    return {"statements": {**OWN, **changes}}


def test_loads_that_can_be_sent_have_no_problems() -> None:
    assert problems({}) == []
    assert problems(own()) == []
    assert problems({"workload": "ycsb-a", "mix": {"read": 1, "scan": 1}}) == []
    assert problems({"workload": "ycsb-c", "rate": "66% of max"}) == []
    assert problems({**own(), "phases": [{"for": 1, "rate": 5.0, "mix": {"get": 1}}]}) == []


@pytest.mark.parametrize(
    ("load", "field"),
    [
        ({"workload": "stress-read", "mix": {"scan": 1}}, "load.mix: scan"),
        ({"workload": "stress-read", "distribution": "latest"}, "load.distribution"),
        ({"mix": {"read": 0}}, "load.mix: no operation"),
        ({"rate": 5.0, "phases": [{"for": 1, "rate": 5.0}]}, "load.phases"),
        ({"rate": 5.0, "threads": "max"}, "load.threads"),
        ({"phases": [{"for": 1, "rate": 5.0, "mix": {"get": 1}}]}, "load.phases.0.mix"),
        ({**own(), "fields": 3}, "load.fields"),
        (own(operations={}), "load.statements.operations"),
        (own(populate={}), "load.statements.populate"),
        (own(populate={"operation": "gett"}), "load.statements.populate.operation"),
        (
            own(operations={"get": {"cql": "SELECT", "values": {"k": {"like": "j"}}}},
                populate=None),
            "load.statements.operations.get.values.k: like j",
        ),
        (
            own(operations={"get": {"cql": "SELECT", "values": {
                "k": {"latest": "records", "grown_by": "ptu"}}}}, populate=None),
            "load.statements.operations.get.values.k: grown_by ptu",
        ),
    ],
)  # fmt: skip
def test_a_contradiction_is_named_by_its_field(load: dict[str, Any], field: str) -> None:
    assert any(one.startswith(field) for one in problems(load)), problems(load)


def test_a_search_loads_one_cluster() -> None:
    assert problems({"threads": "max"}, clusters=2) == [
        "load.threads: a share of the maximum, with 2 clusters side by side"
    ]


@pytest.mark.parametrize(
    ("tool", "load"),
    [
        ("ycsb", {"workload": "ycsb-a"}),
        ("cassandra-stress", {"workload": "stress-mixed"}),
        ("cassandra-stress", {"workload": "stress-mixed", "mix": {"write": 1, "read": 3}}),
        ("cassandra-stress", {"workload": "stress-read", "distribution": "sequential"}),
        ("latte", {"workload": "ycsb-c", "distribution": "uniform"}),
    ],
)
def test_other_tools_send_the_workloads_that_are_theirs(tool: str, load: dict[str, Any]) -> None:
    assert problems(load, client={"tool": tool}) == []


@pytest.mark.parametrize(
    ("tool", "load"),
    [
        ("ycsb", {"workload": "stress-read"}),
        ("ycsb", {"workload": "ycsb-f"}),
        ("ycsb", own()),
        ("ycsb", {"workload": "ycsb-a", "phases": [{"for": 1, "rate": 5.0}]}),
        ("cassandra-stress", {"workload": "ycsb-c"}),
        ("latte", {"workload": "ycsb-c"}),
        ("latte", {"workload": "ycsb-a", "distribution": "uniform", "mix": {"read": 1}}),
    ],
)
def test_what_another_tool_cannot_send_is_refused(tool: str, load: dict[str, Any]) -> None:
    found = problems(load, client={"tool": tool})
    assert any(one.startswith(f"client.tool: {tool}") for one in found)


def test_a_tool_with_one_consistency_level_cannot_have_two() -> None:
    levels = {"consistency": {"read": "ONE", "write": "ALL"}}
    tool = {"tool": "cassandra-stress"}
    assert problems({"workload": "stress-mixed"}, client=tool, database=levels)
    assert not problems({"workload": "stress-read"}, client=tool, database=levels)


def test_other_tools_run_natively() -> None:
    client = {"tool": "ycsb", "runtime": "docker"}
    assert problems({}, client=client) == ["client.tool: ycsb runs in docker"]
