"""Numbers from a trial's records, and when there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tare.analysis.catalogue import _FIXED, SERVICE_DEMAND, describe, has_ratio, in_order
from tare.analysis.metrics import demand_by_owner_s, demand_s, server_cpus, trial_values
from tare.records.hlog import Latencies
from tare.records.manifest import ClientResult, OperationResult, TrialManifest, UnitRecord
from tare.study.metric_names import OF_THE_MACHINE, SERVER_UTIL

if TYPE_CHECKING:
    from tare.analysis.metrics import LatencyKey


def client(name: str, reads: int, mean_us: float, cpu_us: float) -> ClientResult:
    read = OperationResult(
        operation="READ", ok=reads, errors=0, service_mean_us=1.0, response_mean_us=mean_us
    )
    return ClientResult(
        client=name, hlog=f"{name}.hlog", measured_s=10.0, start_unix=0.0, ok=reads, errors=0,
        throughput=reads / 10, operations=[read], errors_by_kind={}, cpu_us_per_op=cpu_us,
        cpu_share=0.1, send_lateness_p99_us=None, rate_error=None, saturated=False,
        saturation_reasons=[], version="0",
    )  # fmt: skip


def manifest(clients: list[ClientResult], **changes: Any) -> TrialManifest:
    facts: dict[str, Any] = {
        "run": "r", "trial": "t", "status": "done", "condition": "native", "levels": {},
        "round": 1, "block": 1, "position": 1, "deployment": "d", "started": "", "ended": "",
        "measure_start": 0.0, "measure_end": 10.0, "setup": {}, "clients": clients,
        "warm_up": None, "units": [], "database": {}, "caches_dropped": None,
        "server_cpu_s": 8.0, "engine_cpu_s": 0.0, "machine_cpu_s": 16.0, "probe_cpu_s": 0.1,
    }  # fmt: skip
    return TrialManifest.model_validate(facts | changes)


def uniform(n: int) -> dict[LatencyKey, Latencies]:
    """n response times of 1 us, 2 us, 3 us, ... below 2 us * 1024, where bins are exact."""
    values = 1 + np.arange(n) % 1000
    return {("READ", "response"): Latencies(np.bincount(values), unit=10, half=10)}


def test_clients_count_by_their_operations() -> None:
    values = trial_values(
        manifest([client("c1", 1000, 100.0, 10), client("c2", 3000, 200.0, 20)]), {}
    )
    assert values == pytest.approx(
        {
            "service_demand": 4000.0,
            "throughput": 400.0,
            "all.mean": 175.0,
            "read.mean": 175.0,
            "cpu.server_per_op": 2000.0,
            "cpu.client_per_op": 17.5,
            "errors": 0.0,
        }
    )


def test_service_demand_is_the_machines_cpu_time_less_what_no_operation_caused() -> None:
    one = [client("c1", 1000, 100.0, 500)]
    spent = manifest(one, engine_cpu_s=1.0, background_cpu_s=2.0)
    values = trial_values(spent, {})
    assert values["service_demand"] == pytest.approx(14_000)
    assert demand_s(spent) == pytest.approx(14.0)


def test_the_parts_by_owner_add_up_to_service_demand() -> None:
    spent = manifest([client("c1", 1000, 100.0, 500)], engine_cpu_s=1.0, background_cpu_s=2.0)
    parts = demand_by_owner_s(spent)
    assert parts == pytest.approx(
        {
            "cpu.server_per_op": 8.0,
            "cpu.engine_per_op": 1.0,
            "cpu.client_per_op": 0.5,
            "cpu.others_per_op": 4.5,
        }
    )
    assert sum(parts.values()) == pytest.approx(demand_s(spent))


def test_what_was_not_used_or_not_measured_is_absent() -> None:
    one = [client("c1", 1000, 100.0, 10)]
    assert "cpu.engine_per_op" not in trial_values(manifest(one), {})
    assert trial_values(manifest(one, engine_cpu_s=0.5), {})["cpu.engine_per_op"] == 500
    assert trial_values(manifest([client("c1", 0, 0.0, 0.0)]), {}) == {"errors": 0}
    assert "cpu.server_per_op" not in trial_values(manifest(one, server_cpu_s=float("inf")), {})


@pytest.mark.parametrize(
    ("operations", "given"),
    [
        (199, set()),
        (200, {"all.p95", "read.p95"}),
        (1_000, {"all.p95", "read.p95", "all.p99", "read.p99"}),
        (10_000, {f"{op}.{p}" for op in ("all", "read") for p in ("p95", "p99", "p999")}),
    ],
)
def test_percentiles_need_ten_observations_beyond(operations: int, given: set[str]) -> None:
    values = trial_values(manifest([client("c1", operations, 1.0, 1)]), uniform(operations))
    assert {n for n in values if n.rpartition(".")[2] in ("p95", "p99", "p999")} == given


def test_percentiles_are_of_response_time_over_all_operations() -> None:
    slow = Latencies(np.bincount([2000]), unit=10, half=10)
    fast = uniform(10_000)
    read = fast["READ", "response"]
    values = trial_values(
        manifest([client("c1", 1, 1.0, 1)]),
        {**fast, ("UPDATE", "response"): read, ("READ", "service"): slow},
    )
    # bins are 1.024 us wide
    assert values["all.p50"] == pytest.approx(500 * 1.024, rel=0.01)
    assert values["all.p99"] == pytest.approx(990 * 1.024, rel=0.01)
    assert values["update.p99"] == values["read.p99"]


def test_metrics_are_described_and_ordered_for_readers() -> None:
    assert describe("throughput").better == "higher"
    assert describe("read.p99").title == "99th percentile latency, read"
    assert describe("cpu.server_per_op").unit == "us/operation"
    assert in_order(["cpu.server_per_op", "read.p99", "all.p99", "throughput", "all.p99"]) == [
        "throughput",
        "all.p99",
        "read.p99",
        "cpu.server_per_op",
    ]


def test_what_studies_may_name_of_the_machine_is_what_trials_have() -> None:
    described = {name: describe(name).unit for name in OF_THE_MACHINE}
    assert all(described.values()), "an unknown name has no unit"
    mine = {name for name in _FIXED if name.partition(".")[0] in ("cpu", "disk")}
    mine.add(SERVICE_DEMAND)
    assert set(OF_THE_MACHINE) == mine


def unit(name: str, role: str = "database", machine: str = "", **parity: str) -> UnitRecord:
    facts = {name.replace("_", " "): value for name, value in parity.items()}
    return UnitRecord.model_validate(
        {
            "name": name, "role": role, "runtime": "native", "network": "host", "storage": "",
            "endpoint": "", "command": [], "bits": "", "limits": {}, "machine": machine,
            "parity": facts,
        }
    )  # fmt: skip


def test_the_servers_cpu_is_what_no_client_used_of_the_cpus_that_servers_may_use() -> None:
    """16 s of CPU, 1 s of them the client's, in 10 s on 2 of the machine's CPUs."""
    one = [client("c1", 1000, 100.0, 1000)]
    nodes = [unit("n1", cpus_allowed="0-1"), unit("n2", cpus_allowed="0-1")]
    other = unit("c1", "client", cpus_allowed="2-3")
    assert trial_values(manifest(one, units=[*nodes, other]), {})[SERVER_UTIL] == 75.0
    less = manifest(one, units=nodes, background_cpu_s=5.0)
    assert trial_values(less, {})[SERVER_UTIL] == 50.0


@pytest.mark.parametrize(
    ("nodes", "cpus"),
    [
        ([{"cpus_allowed": "0"}, {"cpus_allowed": "1,3-4"}], 4),
        ([{"cpus_allowed": "0-7", "cpu_quota": "1 CPUs"}], 1),
        ([{"cpus_allowed": "0-1", "cpu_quota": "1.5 CPUs"}] * 2, 2),
        ([{"cpus_allowed": "0-1", "cpu_quota": "none"}], 2),
        ([{"cpus_allowed": "0-1"}, {}], 0),
        ([], 0),
    ],
)
def test_servers_have_the_cpus_that_they_are_allowed_and_no_more_than_their_quotas(
    nodes: list[dict[str, str]], cpus: float
) -> None:
    units = [unit(f"n{i}", **facts) for i, facts in enumerate(nodes)]
    assert server_cpus(manifest([], units=units)) == cpus


def test_where_nobody_tells_the_servers_cpus_there_is_no_share_of_them() -> None:
    one = [client("c1", 1000, 100.0, 10)]
    assert SERVER_UTIL not in trial_values(manifest(one, units=[unit("n1", machine="m1")]), {})
    hosts = {"platform": {"machines": "ssh"}}
    there = manifest(one, units=[unit("n1", machine="h1", cpus_allowed="0")], setup=hosts)
    assert SERVER_UTIL not in trial_values(there, {}), "their own samples tell it"


def test_a_shape_needs_many_operations_and_makes_no_ratio() -> None:
    few = trial_values(manifest([client("c1", 999, 1.0, 1)]), uniform(999))
    many = trial_values(manifest([client("c1", 1000, 1.0, 1)]), uniform(1000))
    assert "all.skewness" not in few
    # of a uniform distribution: 0 and 9/5
    assert many["read.kurtosis"] == pytest.approx(1.8, abs=1e-4)
    assert many["all.kurtosis"] == many["read.kurtosis"]
    assert not has_ratio("read.kurtosis")
    assert has_ratio("read.p99")
    assert describe("read.skewness").unit == ""
    assert in_order(["zz", "read.skewness", "throughput"]) == ["throughput", "read.skewness", "zz"]
