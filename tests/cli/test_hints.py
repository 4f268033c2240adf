"""`tare plan` hints at questions that its result will not answer as expected."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from tare.cli.console import Terminal
from tare.cli.hints import hint_lines
from tare.cli.plan_text import show
from tare.study.plan import make_plan
from tare.study.schema import Study

if TYPE_CHECKING:
    from tare.study.plan import Plan

DOCKER = {"platform": {"runtime": "docker", "network": "bridge", "storage": "volume"}}
PINNED = {"platform": {"limits": {"cpuset": 0}}, "client": {"limits": {"cpuset": 1}}}
WARM = {"warm": {"gentle": 120}}


def planned(**parts: Any) -> Plan:
    study: dict[str, Any] = {
        "study": "pair",
        **PINNED,
        "factors": {"platform": {"native": {}, "docker": DOCKER}},
        "baseline": {"platform": "native"},
    }
    parts["design"] = WARM | parts.get("design", {})
    return make_plan(Study.model_validate(study | parts))


def test_a_study_without_any_of_it_has_no_hint() -> None:
    assert hint_lines(planned()) == []


@pytest.mark.parametrize("load", [{"threads": "66% of max"}, {"rate": "50% of max"}])
def test_own_maxima_are_different_loads(load: dict[str, Any]) -> None:
    hints = [one for one in hint_lines(planned(load=load)) if "maximum of its own" in one]
    assert len(hints) == 1
    assert "write load.search.of: baseline" in hints[0]
    same = {**load, "search": {"of": "baseline"}}
    assert not any("maximum of its own" in one for one in hint_lines(planned(load=same)))


def test_throughput_answers_nothing_where_a_rate_sets_it() -> None:
    (hint,) = hint_lines(planned(load={"rate": 500}))
    assert "load.rate sets the throughput" in hint
    assert "analysis: {primary: [service_demand, all.p99]}" in hint
    asked = {"primary": ["service_demand", "all.p99"]}
    assert hint_lines(planned(load={"rate": 500}, analysis=asked)) == []


@pytest.mark.parametrize(("of", "alike"), [("condition", False), ("baseline", True)])
def test_a_share_of_its_own_maximum_leaves_throughput_an_answer(of: str, alike: bool) -> None:
    hints = hint_lines(planned(load={"rate": "66% of max", "search": {"of": of}}))
    assert any("sets the throughput" in one for one in hints) is alike


def test_metrics_that_decide_instead_have_service_demand_among_them() -> None:
    (hint,) = hint_lines(planned(load={"rate": 500}, margins={"throughput": 0.05, "p99": 0.1}))
    assert "analysis: {primary: [service_demand, all.p99]}" in hint


def test_clients_that_share_the_servers_cpus_are_named() -> None:
    (hint,) = hint_lines(planned(client={}))
    assert "client.limits.cpuset" in hint
    assert hint_lines(planned(client={"machines": "ssh"}, platform={})) == []


def test_containers_with_the_hosts_network_and_storage_alone_are_named() -> None:
    """As in a first study, which names only a runtime."""
    levels = {"native": {}, "docker": {"platform": {"runtime": "docker"}}}
    (hint,) = hint_lines(planned(factors={"platform": levels}))
    assert "write platform: {runtime: docker, network: bridge, storage: volume}" in hint
    levels["docker-bridge"] = DOCKER
    assert hint_lines(planned(factors={"platform": levels})) == []


def test_of_containers_on_other_hosts_no_network_is_asked_for_that_is_refused_there() -> None:
    hosts = {"platform": {"machines": "ssh", "limits": {}}, "client": {"machines": "ssh"}}
    levels = {"native": {}, "docker": {"platform": {"runtime": "docker"}}}
    (hint,) = hint_lines(planned(factors={"platform": levels}, **hosts))
    assert "write platform: {runtime: docker, network: published, storage: volume}" in hint
    assert "bridge" not in hint


ENDPOINTS = {
    "endpoint": {name: {"platform": {"endpoint": name}} for name in ("bridge", "published")}
}


def test_fewer_operations_in_flight_are_offered_where_they_lengthen_slices() -> None:
    limits = {"limits": {"cpuset": 0}}
    container = {"runtime": "docker", "network": "bridge", **limits}
    parts: dict[str, Any] = {
        "platform": container,
        "factors": ENDPOINTS,
        "baseline": {"endpoint": "bridge"},
    }
    (hint,) = hint_lines(planned(**parts, load={"threads": 64}))
    assert "slices of 76.8 ms" in hint
    assert "load.threads: 4" in hint
    assert hint_lines(planned(**parts, load={"threads": 4})) == []
    assert hint_lines(planned(**parts, load={"threads": 64}, design={"slice": "100ms"})) == []
    assert not any("in flight" in one for one in hint_lines(planned(**parts, load={"rate": 50})))


def test_loads_that_are_compared_beside_platforms_are_named_with_the_edit() -> None:
    factors = {
        "platform": {"native": {}, "docker": DOCKER},
        "threads": {"few": {"load.threads": 4}, "many": {"load.threads": 64}},
    }
    baseline = {"platform": "native", "threads": "few"}
    (hint,) = hint_lines(planned(factors=factors, baseline=baseline))
    assert "levels of threads are compared with one another" in hint
    assert "write analysis: {by: [threads]}" in hint
    by = planned(factors=factors, baseline=baseline, analysis={"by": "threads"})
    assert hint_lines(by) == []
    alone = planned(factors={"threads": factors["threads"]}, baseline={"threads": "few"})
    assert hint_lines(alone) == []


def test_hints_are_shown_with_the_plan() -> None:
    out = io.StringIO()
    show(planned(load={"rate": 500}), Terminal(file=out, width=200))
    assert "hint: load.rate sets the throughput" in out.getvalue()
    assert "docker with native: between deployments" in out.getvalue()


THREE = {"nodes": 3, "replication_factor": 3}


@pytest.mark.parametrize("read", ["ONE", "TWO", "QUORUM"])
def test_replicas_that_each_cluster_chooses_by_itself_are_named(read: str) -> None:
    database: dict[str, Any] = {**THREE, "consistency": {"read": read}}
    (hint,) = hint_lines(planned(database=database))
    assert "write database.settings: {dynamic_snitch: false}" in hint
    settled = {**database, "settings": {"dynamic_snitch": False}}
    assert hint_lines(planned(database=settled)) == []


def test_where_all_replicas_answer_there_is_nothing_to_choose() -> None:
    assert hint_lines(planned(database={**THREE, "consistency": {"read": "ALL"}})) == []
    assert hint_lines(planned(database={"nodes": 3, "replication_factor": 1})) == []


def test_ways_into_one_cluster_have_the_same_replicas() -> None:
    one = planned(
        database={**THREE, "consistency": {"read": "ONE"}},
        platform={"runtime": "docker", "network": "bridge", "limits": {"cpuset": 0}},
        factors=ENDPOINTS,
        baseline={"endpoint": "bridge"},
    )
    assert not any("dynamic snitch" in hint for hint in hint_lines(one))


@pytest.mark.parametrize(
    ("nodes", "jvm", "told"),
    [
        (3, ["-XX:TieredStopAtLevel=1"], True),
        (3, ["-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=0.2"], False),
        (3, [], False),
        (1, ["-XX:TieredStopAtLevel=1"], False),
    ],
)
def test_nodes_with_the_quick_compiler_are_told_how_to_compile_sooner(
    nodes: int, jvm: list[str], told: bool
) -> None:
    hints = hint_lines(planned(database={"nodes": nodes, "jvm": jvm}))
    edit = 'database.jvm: ["-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=0.1"]'
    assert [one.endswith(edit) for one in hints] == [True] * told


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, True),
        ({"design": WARM}, False),
        ({"design": {"warm": {"at_most": 300}}}, False),
        ({"load": {"measure": 1200}}, False),
        ({"database": {"jvm": ["-XX:TieredStopAtLevel=1"]}}, False),
        ({"database": {"jvm": ["-XX:-TieredCompilation"]}}, False),
    ],
)
def test_servers_that_are_measured_while_the_second_compiler_works(
    changed: dict[str, Any], told: bool
) -> None:
    hints = hint_lines(planned(**{"design": {"warm": {}}} | changed))
    assert ["measured while the second" in one for one in hints] == [True] * told


@pytest.mark.parametrize(
    ("reset", "records", "told"),
    [("truncate", 2_000_000, True), ("keep", 2_000_000, False), ("truncate", 1_000, False)],
)
def test_tables_that_are_filled_anew_for_a_large_part_of_the_run(
    reset: str, records: int, told: bool
) -> None:
    design = {"reset": reset, "blocks": 5, "fresh": "deployment"}
    hints = hint_lines(planned(load={"records": records}, design=design))
    assert ["write design.reset: keep" in one for one in hints] == [True] * told


@pytest.mark.parametrize(("nodes", "network"), [(3, "published"), (1, "published"), (3, "bridge")])
def test_nodes_that_reach_each_other_by_ports_of_one_engine_are_told_of_its_proxy(
    nodes: int, network: str
) -> None:
    study = planned(
        database={"nodes": nodes},
        factors={"platform": {"native": {}, "docker": {"platform.runtime": "docker",
                 "platform.network": network, "platform.storage": "volume"}}},
    )  # fmt: skip
    told = [one for one in hint_lines(study) if "through its userland proxy" in one]
    assert len(told) == int(nodes > 1 and network == "published")


@pytest.mark.parametrize(("turn", "seconds"), [("pass", "8.4"), ("slice", "")])
def test_a_replica_set_that_stands_still_for_long_is_named(turn: str, seconds: str) -> None:
    """Four sets of ten conditions each."""
    sets = {f"s{n}": {"platform": {"limits": {"memory": f"{n + 1} GiB"}}} for n in range(4)}
    mongo = {"kind": "mongodb", "version": "7.0", "image": "mongo:7", "nodes": 3,
             "replication_factor": 3}  # fmt: skip
    plan = planned(
        database=mongo,
        platform={**PINNED["platform"], **DOCKER["platform"]},
        factors={"set": sets, "load": {f"t{n}": {"load.threads": n + 1} for n in range(10)}},
        baseline={"set": "s0", "load": "t0"},
        design={"slice": "250ms", "drain": "25ms", "turn": turn, "fresh": "deployment",
                "reset": "keep"},
    )  # fmt: skip
    hints = [one for one in hint_lines(plan) if "stands still" in one]
    assert len(hints) == bool(seconds)
    assert all(f"stands still for {seconds} s between" in one for one in hints)
