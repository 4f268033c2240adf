"""The order of trials: complete blocks, random from the seed, and what they cost."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.study.plan import Plan, make_plan
from tare.study.schema import Study


def study(conditions: int = 4, **design: Any) -> Study:
    levels: dict[str, Any] = {f"c{n}": {"database.nodes": 1} for n in range(conditions)}
    return Study.model_validate(
        {"study": "x", "factors": {"f": levels}, "baseline": {"f": "c0"}, "design": design}
    )


SEEDS = st.integers(0, 2**32)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), SEEDS)
def test_every_block_holds_every_condition_once(
    conditions: int, deployments: int, blocks: int, seed: int
) -> None:
    plan = make_plan(study(conditions, deployments=deployments, blocks=blocks, seed=seed))
    everything = Counter(f"c{n}" for n in range(conditions))
    assert len(plan.rounds) == deployments
    for turn in plan.rounds:
        assert Counter(turn.deploy) == everything
        assert [block.index for block in turn.blocks] == list(range(1, blocks + 1))
        assert all(Counter(block.order) == everything for block in turn.blocks)


@given(SEEDS)
def test_the_same_seed_gives_the_same_plan(seed: int) -> None:
    assert make_plan(study(seed=seed)) == make_plan(study(seed=seed))


def test_another_seed_gives_another_order() -> None:
    orders = {str(make_plan(study(seed=seed)).rounds) for seed in range(20)}
    assert len(orders) == 20


def test_every_order_of_conditions_comes_up_about_equally_often() -> None:
    plan = make_plan(study(3, deployments=1, blocks=600))
    orders = Counter(tuple(block.order) for block in plan.rounds[0].blocks)
    assert len(orders) == 6
    # expected 100 each; beyond five standard deviations (9.1) the shuffle is not uniform
    assert all(abs(count - 100) < 46 for count in orders.values())


@given(SEEDS)
def test_with_a_cluster_per_block_the_conditions_of_a_cluster_follow_one_another(seed: int) -> None:
    factors: dict[str, Any] = {
        "heap": {"small": {"database.heap": "512MiB"}, "large": {"database.heap": "1024MiB"}},
        "threads": {str(n): {"load.threads": n} for n in (1, 2, 3)},
    }
    plan = make_plan(
        Study.model_validate(
            {
                "study": "x",
                "factors": factors,
                "baseline": {"heap": "small", "threads": "1"},
                "design": {"fresh": "block", "blocks": 3, "seed": seed},
            }
        )
    )
    for block in (block for turn in plan.rounds for block in turn.blocks):
        clusters = [plan.condition(name).deployment for name in block.order]
        changes = sum(one != other for one, other in pairwise(clusters))
        assert (len(set(clusters)), changes) == (2, 1)


def test_a_cluster_is_warmed_up_with_every_kind_of_load_that_it_will_serve() -> None:
    plan = make_plan(
        Study.model_validate(
            {
                "study": "x",
                "factors": {
                    "workload": {"a": {}, "c": {"load.workload": "ycsb-c"}},
                    "threads": {"few": {"load.threads": 2}, "many": {}},
                },
                "baseline": {"workload": "a", "threads": "few"},
                "design": {"deployments": 1, "warm": {"gentle": "20s", "at_most": "10s"}},
            }
        )
    )
    (key,) = {one.deployment for one in plan.conditions}
    assert [one.load.workload for one in plan.kinds(key)] == ["ycsb-a", "ycsb-c"]
    assert plan.estimate.breakdown["warm up"] == 2 * (20 + 10)


def test_a_deployment_is_made_for_an_endpoint_where_any_of_its_conditions_names_one() -> None:
    factors = {
        "way": {"usual": {}, "proxy": {"platform.endpoint": "proxy"}},
        "workload": {"a": {}, "c": {"load.workload": "ycsb-c"}},
    }
    document = {
        "study": "x",
        "platform": {"runtime": "docker", "network": "bridge"},
        "factors": factors,
        "baseline": {"way": "usual", "workload": "a"},
    }
    first, second = make_plan(Study.model_validate(document)).kinds("all")
    assert [first.platform.endpoint, second.platform.endpoint] == ["proxy", "proxy"]
    assert [first.load.workload, second.load.workload] == ["ycsb-a", "ycsb-c"]


@given(SEEDS)
def test_more_deployments_only_add_rounds(seed: int) -> None:
    short, long = (make_plan(study(seed=seed, deployments=n)) for n in (2, 5))
    assert long.rounds[:2] == short.rounds


def test_a_fixed_order_is_the_order_of_the_study() -> None:
    plan = make_plan(study(order="fixed"))
    for turn in plan.rounds:
        assert turn.deploy == ["c0", "c1", "c2", "c3"]
        assert all(block.order == ["c0", "c1", "c2", "c3"] for block in turn.blocks)


def test_the_order_of_a_seed_never_changes() -> None:
    """Golden: published studies name their seed, so an upgrade must not reorder them."""
    plan = make_plan(study(seed=7, deployments=1, blocks=3))
    assert plan.rounds[0].deploy == ["c2", "c0", "c1", "c3"]
    assert [block.order for block in plan.rounds[0].blocks] == [
        ["c0", "c2", "c3", "c1"],
        ["c0", "c2", "c3", "c1"],
        ["c0", "c1", "c2", "c3"],
    ]


def test_trials_have_the_names_of_their_directories() -> None:
    plan = make_plan(study(2, deployments=2, blocks=2, order="fixed"))
    assert [trial.name for trial in plan.trials] == [
        "D1-B01-c0",
        "D1-B01-c1",
        "D1-B02-c0",
        "D1-B02-c1",
        "D2-B01-c0",
        "D2-B01-c1",
        "D2-B02-c0",
        "D2-B02-c1",
    ]
    assert [trial.position for trial in plan.trials[:3]] == [1, 2, 1]
    assert plan.trials[1].deployment == "c1"


def test_a_plan_comes_back_from_its_json() -> None:
    plan = make_plan(study())
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_a_condition_is_found_by_name() -> None:
    plan = make_plan(study())
    assert plan.condition("c2").levels == {"f": "c2"}
    with pytest.raises(KeyError):
        plan.condition("c9")
