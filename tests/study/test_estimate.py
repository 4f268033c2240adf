"""Estimates: they add up, and grow with the estimated quantity."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.databases.cassandra.declaration import OFF_HEAP_BYTES
from tare.study.estimate import CLIENT_BYTES, LAB_BYTES, RunEstimate
from tare.study.plan import make_plan
from tare.study.quantities import MIB
from tare.study.schema import Study


def estimated(document: dict[str, Any] | None = None, **design: Any) -> RunEstimate:
    base = {"study": "x", "design": design, **(document or {})}
    return make_plan(Study.model_validate(base)).estimate


TWO: dict[str, Any] = {
    "factors": {"f": {"a": {}, "b": {"platform.runtime": "docker"}}},
    "baseline": {"f": "a"},
}


def test_the_measured_part_is_trials_times_their_length() -> None:
    breakdown = estimated(
        {**TWO, "load": {"warmup": 2, "measure": 10}}, deployments=3, blocks=4, slice="off"
    ).breakdown
    assert breakdown["measure"] == 2 * 3 * 4 * 12


@given(
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from(["trial", "block", "deployment"]),
    st.sampled_from(["truncate", "drop", "keep"]),
)
def test_the_phases_add_up(deployments: int, blocks: int, fresh: str, reset: str) -> None:
    plan = estimated(TWO, deployments=deployments, blocks=blocks, fresh=fresh, reset=reset)
    assert plan.seconds == pytest.approx(sum(plan.breakdown.values()))
    assert min(plan.breakdown.values()) >= 0


def test_living_deployments_need_their_memory_at_once() -> None:
    node = 512 * MIB + OFF_HEAP_BYTES + CLIENT_BYTES
    assert estimated(TWO, fresh="deployment").memory_bytes == LAB_BYTES + 2 * node
    assert estimated(TWO, fresh="block").memory_bytes == LAB_BYTES + node


def test_a_memory_limit_bounds_a_node() -> None:
    limited = estimated({"platform": {"limits": {"memory": "600MiB"}}})
    assert limited.memory_bytes == LAB_BYTES + 600 * MIB + CLIENT_BYTES


def test_fresher_clusters_take_longer() -> None:
    kinds = [estimated(TWO, fresh=kind).seconds for kind in ("deployment", "block", "trial")]
    assert kinds[0] < kinds[1]
    assert kinds[1] == kinds[2]  # here no two conditions could share a cluster


def test_keeping_the_data_saves_its_population() -> None:
    kept, truncated = (estimated(TWO, reset=reset) for reset in ("keep", "truncate"))
    assert kept.breakdown["populate"] < truncated.breakdown["populate"]


def test_deployments_from_a_snapshot_are_not_populated_and_it_is_made_once() -> None:
    alike = {**TWO, "load": {"records": 1_000_000}}
    own, few, many = (
        estimated(alike, reset="keep", data=data, deployments=count)
        for data, count in (("populate", 5), ("snapshot", 1), ("snapshot", 5))
    )
    assert few.breakdown["populate"] == many.breakdown["populate"] == 0
    assert few.setup_seconds == many.setup_seconds > own.setup_seconds
    assert many.seconds < own.seconds


def test_an_image_is_built_only_where_docker_is_used() -> None:
    assert estimated().setup_seconds < estimated(TWO).setup_seconds
    assert estimated().disk_bytes < estimated(TWO).disk_bytes


@pytest.mark.parametrize(
    "more",
    [
        {"database": {"nodes": 3, "replication_factor": 1}},
        {"database": {"nodes": 1, "replication_factor": 1}, "clusters": 2},
        {"load": {"records": 1_000_000}},
    ],
)
def test_more_of_anything_takes_more(more: dict[str, Any]) -> None:
    small, large = estimated(), estimated(more)
    assert large.seconds > small.seconds
    assert large.disk_bytes > small.disk_bytes
    assert large.memory_bytes >= small.memory_bytes


SET: dict[str, Any] = {
    "database": {"kind": "mongodb", "version": "7.0", "nodes": 3, "replication_factor": 3},
    "load": {"threads": 32, "records": 1000},
}
QUICK = {"deployments": 1, "blocks": 1, "warm": {"gentle": 60, "at_most": 30}}


def test_a_replica_set_is_reckoned_without_a_jvm_s_warm_up() -> None:
    cassandra = {**SET, "database": {"nodes": 3, "replication_factor": 3}}
    assert estimated(cassandra, **QUICK).breakdown["warm up"] == 90
    assert estimated(SET, **QUICK).breakdown["warm up"] == 30


def test_the_machine_s_memory_bounds_what_servers_without_a_limit_take() -> None:
    full = {**SET, "load": {"threads": 32, "records": 100_000_000}}
    study = Study.model_validate({"study": "x", "design": QUICK, **full})
    small, large = (make_plan(study, machine_memory=m * 1024 * MIB).estimate for m in (3, 9))
    assert large.memory_bytes - small.memory_bytes == 3 * 3 * 1024 * MIB  # a cache of 1 GiB, of 4
