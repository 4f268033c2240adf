"""Which conditions of a shared deployment are driven more often than the others."""

from __future__ import annotations

from typing import Any

import pytest

from tare.study.plan import Plan, make_plan
from tare.study.schema import Study
from tare.study.slice_schedule import Cut, make_schedule

ENDPOINTS = ("loopback", "bridge", "published", "proxy")


def plan(**changed: Any) -> Plan:
    document: dict[str, Any] = {
        "study": "x",
        "factors": {
            "platform": {
                "native": {},
                "docker": {"platform": {"runtime": "docker", "network": "bridge"}},
            },
            "endpoint": {name: {"platform": {"endpoint": name}} for name in ENDPOINTS},
        },
        "exclude": [{"platform": "native", "endpoint": list(ENDPOINTS[1:])}],
        "baseline": {"platform": "native", "endpoint": "loopback"},
        "design": {"deployments": 3, "blocks": 1, "slice": "250ms"},
    }
    return make_plan(Study.model_validate(document | changed))


def shares(made: Plan) -> dict[str, int]:
    return {one.name: one.share for one in made.conditions}


def test_the_baseline_of_several_ways_in_has_as_many_slices_as_they_together() -> None:
    assert shares(plan()) == {
        "native.loopback": 1,
        "docker.loopback": 3,
        "docker.bridge": 1,
        "docker.published": 1,
        "docker.proxy": 1,
    }


def test_inside_a_deployment_that_costs_nothing_and_beside_others_it_gains() -> None:
    made = plan().conditions
    names, deployments = [one.name for one in made], [one.deployment for one in made]

    def measured(measure_s: float, shares: list[int]) -> list[int]:
        schedule = make_schedule(
            names, Cut(1, measure_s, 0.25, 0.03), 1, deployments=deployments, shares=shares
        )
        return [schedule.measured(number) for number in range(len(names))]

    shared, equal = measured(3, [one.share for one in made]), measured(4.5, [])
    assert shared[0] == equal[0] == sum(shared[1:]) == sum(equal[1:]) == 72
    assert 1 / shared[1] + 1 / shared[2] == pytest.approx(1 / equal[1] + 1 / equal[2])
    assert shared[1] == 2 * equal[1] == 36


def test_all_have_one_share_where_several_are_baselines() -> None:
    threads = {"few": {"load": {"threads": 8}}, "many": {"load": {"threads": 64}}}
    endpoint = {name: {"platform": {"endpoint": name}} for name in ("loopback", "bridge")}
    docker = {"platform": {"runtime": "docker", "network": "bridge"}}
    made = plan(
        factors={"endpoint": endpoint, "threads": threads},
        exclude=[],
        baseline={"endpoint": "loopback", "threads": "few"},
        **docker,
    )
    assert len({one.deployment for one in made.conditions}) == 1
    assert set(shares(made).values()) == {1}


def test_without_slices_there_are_no_shares() -> None:
    whole = {"deployments": 3, "blocks": 1, "slice": "off"}
    assert set(shares(plan(design=whole)).values()) == {1}
