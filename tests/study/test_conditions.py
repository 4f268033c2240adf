"""Factors to conditions: names, exclusions, shared deployments, A/A."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tare.study.conditions import baseline_condition, expand, resolve
from tare.study.schema import Study

DOCKER: dict[str, Any] = {"platform": {"runtime": "docker", "storage": "volume"}}


def study(factors: dict[str, Any], **more: Any) -> Study:
    baseline = {factor: next(iter(levels)) for factor, levels in factors.items()}
    return Study.model_validate({"study": "x", "factors": factors, "baseline": baseline, **more})


def test_without_factors_there_is_one_condition() -> None:
    (only,) = expand(Study(study="x"))
    assert (only.name, only.levels, only.deployment) == ("base", {}, "all")
    assert baseline_condition(Study(study="x")) == "base"


def test_one_factor_names_its_conditions_by_level() -> None:
    conditions = expand(study({"platform": {"native": {}, "docker": DOCKER}}))
    assert [one.name for one in conditions] == ["native", "docker"]
    assert [one.setup.platform.runtime for one in conditions] == ["native", "docker"]


def test_several_factors_multiply_in_the_order_they_are_written() -> None:
    example = study(
        {"platform": {"native": {}, "docker": DOCKER}, "rf": {"1": {}, "3": {"database.nodes": 3}}}
    )
    assert [one.name for one in expand(example)] == ["native.1", "native.3", "docker.1", "docker.3"]
    assert baseline_condition(example) == "native.1"


def test_an_exclusion_matches_in_part_and_by_lists() -> None:
    factors: dict[str, Any] = {"a": {"1": {}, "2": {}, "3": {}}, "b": {"x": {}, "y": {}}}
    example = study(factors, exclude=[{"a": ["2", "3"], "b": "y"}, {"a": 3}])
    assert [one.name for one in expand(example)] == ["1.x", "1.y", "2.x"]


def test_conditions_that_only_differ_in_load_share_a_deployment() -> None:
    example = study(
        {
            "platform": {"native": {}, "docker": DOCKER},
            "threads": {"low": {}, "high": {"load.threads": 64}},
            "mix": {"a": {"load.workload": "ycsb-a"}, "c": {"load.workload": "ycsb-c"}},
        }
    )
    assert {one.deployment for one in expand(example)} == {"native", "docker"}


def test_another_table_or_other_records_need_another_deployment() -> None:
    table = study({"mix": {"ycsb": {}, "stress": {"load.workload": "stress-read"}}})
    records = study({"records": {"few": {}, "many": {"load": {"records": 10}}}})
    assert [one.deployment for one in expand(table)] == ["ycsb", "stress"]
    assert [one.deployment for one in expand(records)] == ["few", "many"]


def test_a_cluster_serves_clients_wherever_they_run() -> None:
    runtime = study({"client": {"native": {}, "docker": {"client.runtime": "docker"}}})
    limits = study({"client": {"free": {}, "one-core": {"client.limits.cpus": 1}}})
    assert [one.deployment for one in expand(runtime)] == ["all", "all"]
    assert [one.deployment for one in expand(limits)] == ["all", "all"]


def test_only_selected_conditions_are_expanded_in_the_same_order_and_under_the_same_names() -> None:
    factors: dict[str, Any] = {"a": {"1": {}, "2": {}, "3": {}}, "b": {"x": {}, "y": {}}}
    chosen = study(factors, exclude=[{"a": "1", "b": "y"}], only={"a": [3, 1]})
    assert [one.name for one in expand(chosen)] == ["1.x", "3.x", "3.y"]


def test_an_aa_level_of_a_deployed_factor_is_a_deployment_of_its_own() -> None:
    conditions = expand(study({"platform": {"native": {}, "native-again": {}, "docker": DOCKER}}))
    assert [one.deployment for one in conditions] == ["native", "native-again", "docker"]
    assert [one.aa_of for one in conditions] == [None, "native", None]


BRIDGE: dict[str, Any] = {"runtime": "docker", "network": "bridge"}


def test_an_endpoint_makes_no_deployment_of_its_own_however_it_is_written() -> None:
    nested = study({"way": {"usual": {}, "proxy": {"platform": {"endpoint": "proxy"}}}})
    dotted = study({"way": {"usual": {}, "proxy": {"platform.endpoint": "proxy"}}})
    crossed = study(
        {
            "storage": {"volume": {"platform.storage": "volume"}, "layer": {}},
            "way": {"a": {"platform.endpoint": "bridge"}, "b": {"platform.endpoint": "proxy"}},
        },
        platform=BRIDGE,
    )
    assert [one.deployment for one in expand(nested)] == ["all", "all"]
    assert [one.deployment for one in expand(dotted)] == ["all", "all"]
    assert [one.deployment for one in expand(crossed)] == ["volume", "volume", "layer", "layer"]


def test_levels_that_differ_in_the_endpoint_alone_share_the_first_ones_deployment() -> None:
    levels = {
        "native": {},
        "native-again": {},
        "bridge": {"platform": BRIDGE | {"endpoint": "bridge"}},
        "proxy": {"platform": BRIDGE, "platform.endpoint": "proxy"},
        "usual": {"platform": BRIDGE},
        "layer": {"platform": BRIDGE | {"endpoint": "proxy", "storage": "layer"}},
    }
    found = {one.name: one.deployment for one in expand(study({"platform": levels}))}
    assert found == {
        "native": "native",
        "native-again": "native-again",
        "bridge": "bridge",
        "proxy": "bridge",
        "usual": "bridge",
        "layer": "layer",
    }


def test_an_aa_level_of_an_endpoint_is_another_deployment_which_again_has_all_endpoints() -> None:
    levels = {
        name: {"platform": BRIDGE | {"endpoint": name.partition("-")[0]}}
        for name in ("bridge", "proxy", "bridge-again", "proxy-again")
    }
    conditions = expand(study({"platform": levels}))
    assert [one.deployment for one in conditions] == ["bridge", "bridge"] + ["bridge-again"] * 2
    assert [one.aa_of for one in conditions] == [None, None, "bridge", "proxy"]


def test_naming_a_field_without_setting_it_is_no_reason_for_a_deployment() -> None:
    conditions = expand(study({"t": {"a": {"database": {}}, "b": {"platform.limits": {}}}}))
    assert [one.deployment for one in conditions] == ["all", "all"]


def test_aa_is_seen_in_the_result_and_not_in_the_wording() -> None:
    conditions = expand(study({"t": {"a": {}, "b": {"load.threads": 32}, "c": {"load": {}}}}))
    assert [one.aa_of for one in conditions] == [None, "a", "a"]


def test_later_factors_win_and_lines_follow() -> None:
    example = study({"a": {"x": {"load.threads": 1}}, "b": {"y": {"load": {"threads": 2}}}})
    data, origins = resolve(example, {"a": "x", "b": "y"})
    assert data["load"]["threads"] == 2
    assert ("load", "threads") in origins.patched


def test_any_path_is_a_factor() -> None:
    patch = {
        "database": {
            "settings": {"concurrent_reads": 64},
            "compaction": {"strategy": "LCS", "options": {"sstable_size_in_mb": 64}},
            "key_cache": "0MiB",
        },
        "database.jvm": ["-XX:+UseParallelGC"],
        "database.consistency.read": "ONE",
        "clusters": 2,
    }
    (one,) = expand(study({"f": {"l": patch}}, database={"settings": {"concurrent_writes": 8}}))
    assert one.setup.database.settings == {"concurrent_writes": 8, "concurrent_reads": 64}
    assert one.setup.database.compaction.strategy == "LeveledCompactionStrategy"
    assert one.setup.database.compaction.options == {"sstable_size_in_mb": 64}
    assert one.setup.database.key_cache == 0
    assert one.setup.database.jvm == ["-XX:+UseParallelGC"]
    assert one.setup.database.consistency.read == "ONE"
    assert one.setup.clusters == 2


PATCHES = st.fixed_dictionaries(
    {},
    optional={
        "load.threads": st.integers(1, 3),
        "load.records": st.integers(1, 2),
        "database.nodes": st.integers(1, 2),
        "client.network": st.sampled_from(["host", "bridge"]),
        "platform.endpoint": st.sampled_from(["bridge", "proxy"]),
    },
)
NAMES = st.sampled_from(["a", "b", "c"])
FACTORS = st.dictionaries(
    NAMES, st.dictionaries(NAMES, PATCHES, min_size=1, max_size=3), max_size=3
)


@given(FACTORS)
def test_every_combination_is_one_condition_with_a_name_of_its_own(
    factors: dict[str, Any],
) -> None:
    conditions = expand(study(factors))
    assert len({one.name for one in conditions}) == len(conditions)
    assert [tuple(one.levels.values()) for one in conditions] == list(
        itertools.product(*factors.values())
    )


@given(FACTORS)
def test_conditions_of_one_deployment_have_the_same_cluster(factors: dict[str, Any]) -> None:
    for one, other in itertools.combinations(expand(study(factors)), 2):
        if one.deployment == other.deployment:
            assert one.setup.database == other.setup.database
            cluster = [each.setup.platform.model_dump() | {"endpoint": ""} for each in (one, other)]
            assert cluster[0] == cluster[1]
            assert one.setup.load.records == other.setup.load.records


@given(FACTORS)
def test_the_twin_of_an_aa_condition_came_earlier_and_is_the_same(
    factors: dict[str, Any],
) -> None:
    earlier: dict[str, Any] = {}
    for one in expand(study(factors)):
        if one.aa_of is None:
            assert one.setup not in earlier.values()
        else:
            assert earlier[one.aa_of] == one.setup
        earlier[one.name] = one.setup
