"""`tare plan` lists the comparisons that it will make, and what each can say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tare.cli.compared import MOST_LINES, compared_lines
from tare.study.plan import make_plan
from tare.study.schema import Study

if TYPE_CHECKING:
    from tare.study.plan import Plan

DOCKER = {"platform": {"runtime": "docker", "network": "bridge", "storage": "volume"}}
ENDPOINTS = {
    "native": {},
    "again": {},
    "docker": {**DOCKER, "platform.endpoint": "bridge"},
    "published": {**DOCKER, "platform.endpoint": "published"},
}
REPEATED = {"deployments": 3, "blocks": 1}


def planned(**parts: Any) -> Plan:
    study: dict[str, Any] = {
        "study": "pair",
        "factors": {"platform": ENDPOINTS},
        "baseline": {"platform": "native"},
        "design": REPEATED,
    }
    return make_plan(Study.model_validate(study | parts))


def test_each_comparison_is_listed_with_how_it_is_repeated() -> None:
    lines = compared_lines(planned(baseline={"platform": "docker"}))
    assert lines[0] == "compared, by every metric:"
    assert "  native with docker: between deployments, 3 of each" in lines
    assert "  published with docker: inside one deployment, made 3 times anew" in lines


def test_the_same_setup_again_is_called_so() -> None:
    (line,) = [one for one in compared_lines(planned()) if one.startswith("  again with native")]
    assert line.endswith("; control, the same setup again")


def test_two_repetitions_of_a_third_condition_are_the_same_setup_too() -> None:
    factors = {"platform": {"native": {}, "again": {}, "third": {}}}
    _, *lines = compared_lines(planned(factors=factors, baseline={"platform": "again"}))
    assert [one.rpartition("; ")[2] for one in lines] == ["control, the same setup again"] * 2


@pytest.mark.parametrize(
    ("design", "said"),
    [
        ({"deployments": 1, "blocks": 1}, "measured once each, so without an interval"),
        ({"deployments": 1, "blocks": 4}, "what differs may be theirs, so no verdict"),
        ({"deployments": 2, "blocks": 3, "fresh": "block"}, "between deployments, 6 of each"),
    ],
)
def test_what_a_comparison_cannot_say_is_said(design: dict[str, Any], said: str) -> None:
    (line,) = [one for one in compared_lines(planned(design=design)) if "docker with" in one]
    assert line.endswith(said)


def test_a_long_list_is_cut_and_averages_are_named() -> None:
    plan = planned(
        factors={
            "platform": {"native": {}, "docker": DOCKER},
            "threads": {f"t{n}": {"load.threads": n} for n in range(1, 21)},
        },
        baseline={"platform": "native", "threads": "t1"},
        analysis={"over": "threads"},
    )
    lines = compared_lines(plan)
    assert lines[0] == "compared, by every metric, averaged over threads:"
    assert len(lines) == MOST_LINES + 2
    assert lines[-1] == "  and 8 more comparisons"


def test_a_study_of_one_condition_compares_nothing() -> None:
    assert compared_lines(planned(factors={}, baseline={})) == []
