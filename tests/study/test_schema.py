"""The fields of a study: defaults, conversions, and that nothing is left unexplained."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from tare.study.problems import field_paths
from tare.study.schema import Load, Setup, Study


def test_a_name_is_all_that_a_study_needs() -> None:
    study = Study(study="smallest")
    assert study.database.heap == 512 * 1024**2
    assert study.load.rate is None
    assert study.margins == {
        "service_demand": 0.05,
        "throughput": 0.05,
        "mean": 0.05,
        "p99": 0.10,
    }


def test_a_study_comes_back_from_its_own_json() -> None:
    study = Study.model_validate(
        {
            "study": "again",
            "database": {"heap": "1GiB", "key_cache": "0MiB", "compaction": {"strategy": "UCS"}},
            "load": {"measure": "1m30s", "rate": 500},
            "factors": {"threads": {"low": None, "high": {"load.threads": 64}}},
            "baseline": {"threads": "low"},
            "exclude": [{"threads": "high"}],
            "margins": {"service_demand": "3%", "p99": "7%"},
        }
    )
    assert study.margins == {"service_demand": 0.03, "p99": 0.07}
    assert Study.model_validate_json(study.model_dump_json()) == study
    assert Study.model_validate(study.model_dump(mode="json")) == study


@pytest.mark.parametrize(
    ("short", "strategy"),
    [
        ("STCS", "SizeTieredCompactionStrategy"),
        ("LCS", "LeveledCompactionStrategy"),
        ("TWCS", "TimeWindowCompactionStrategy"),
        ("UCS", "UnifiedCompactionStrategy"),
    ],
)
def test_compaction_strategies_have_short_names(short: str, strategy: str) -> None:
    setup = Setup.model_validate({"database": {"compaction": {"strategy": short}}})
    assert setup.database.compaction.strategy == strategy


@pytest.mark.parametrize(
    ("workload", "table"),
    [("ycsb-b", "ycsb.usertable"), ("stress-mixed", "keyspace1.standard1")],
)
def test_a_workload_knows_its_table(workload: Any, table: str) -> None:
    assert Load(workload=workload).table == table


@pytest.mark.parametrize(
    "document",
    [
        {"database": {"nodes": 0}},
        {"database": {"nodes": 101}},
        {"database": {"nodes": "3"}},
        {"database": {"nodes": 1.0}},
        {"database": {"nodes": True}},
        {"database": {"replication_factor": 0}},
        {"database": {"version": 5.0}},
        {"database": {"key_cache": -1}},
        {"database": {"heap": "1MiB"}},
        {"database": {"consistency": {"read": "ANY"}}},
        {"database": {"compaction": {"options": {"min_threshold": [4]}}}},
        {"platform": {"limits": {"cpus": 0}}},
        {"platform": {"limits": {"cpuset": "1-0"}}},
        {"clusters": 0},
        {"load": {"threads": 0}},
        {"load": {"rate": 0}},
        {"load": {"rate": float("inf")}},
        {"load": {"measure": 0}},
        {"load": {"measure": "10 years"}},
        {"load": {"warmup": -1}},
        {"margins": {"p99": 1.5}},
        {"margins": {"p98": 0.1}},
        {"factors": {"a.b": {}}},
        {"factors": {"a": {"../b": {}}}},
        {"factors": {"a": {"b": 3}}},
        {"study": "Not a slug"},
    ],
)
def test_what_is_out_of_range_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Study.model_validate({"study": "x", **document})


def test_a_study_is_frozen() -> None:
    with pytest.raises(ValidationError):
        Study(study="x").clusters = 2  # type: ignore[misc]  # that is what is tried


def test_every_field_has_a_description_and_all_but_the_name_a_default() -> None:
    for path in field_paths(Study):
        model: Any = Study
        for name in path[:-1]:
            model = model.model_fields[name].annotation
        assert issubclass(model, BaseModel)
        info = model.model_fields[path[-1]]
        assert info.description, path
        assert path == ("study",) or not info.is_required(), path


@given(st.integers(1, 10**6), st.floats(0.001, 1e6), st.floats(0.01, 3600))
def test_any_load_in_range_survives_json(threads: int, rate: float, measure: float) -> None:
    threads = min(threads, 100_000)
    load = Load(threads=threads, rate=rate, measure=measure)
    assert Load.model_validate_json(load.model_dump_json()) == load
