"""`tare plan` tells a study without an A/A level how to have one."""

from __future__ import annotations

import io
from typing import Any

import pytest
from ruamel.yaml import YAML

from tare.cli.console import Terminal
from tare.cli.controls import control_lines
from tare.cli.plan_text import show
from tare.study.plan import Plan, make_plan
from tare.study.schema import Study

DOCKER = {"platform": {"runtime": "docker", "network": "bridge", "storage": "volume"}}


def planned(levels: dict[str, Any], baseline: str = "native", **parts: Any) -> Plan:
    study = {
        "study": "pair",
        "factors": {"platform": levels},
        "baseline": {"platform": baseline},
    }
    return make_plan(Study.model_validate(study | parts))


@pytest.mark.parametrize(
    ("levels", "baseline", "added"),
    [
        ({"native": {}, "docker": DOCKER}, "native", {"native-again": {}}),
        ({"native": {}, "docker": DOCKER}, "docker", {"docker-again": DOCKER}),
        (
            {"native": {}, "native-again": DOCKER, "b": {"platform.runtime": "docker"}},
            "native",
            {"native-again1": {}},
        ),
        (
            {"a": {"load.threads": 4, "database.jvm": ["-Xss1m"]}, "b": {}},
            "a",
            {"a-again": {"load.threads": 4, "database.jvm": ["-Xss1m"]}},
        ),
    ],
)
def test_the_level_to_add_makes_an_a_a_pair(
    levels: dict[str, Any], baseline: str, added: dict[str, Any]
) -> None:
    (line,) = control_lines(planned(levels, baseline))
    written = YAML(typ="safe").load(line.partition("to the study: factors: ")[2])
    assert written == {"platform": added}
    whole = planned(levels | written["platform"], baseline)
    assert [one.aa_of for one in whole.conditions if one.aa_of] == [baseline]
    assert control_lines(whole) == []


def test_one_that_only_leaves_out_was_left_out_on_purpose() -> None:
    levels = {"native": {}, "native-again": {}, "docker": DOCKER}
    assert control_lines(planned(levels, only={"platform": ["native", "docker"]})) == []


def test_a_study_that_compares_nothing_needs_none() -> None:
    alone = Study.model_validate({"study": "alone"})
    assert control_lines(make_plan(alone)) == []


def test_it_is_shown_with_the_plan_once() -> None:
    out = io.StringIO()
    show(planned({"native": {}, "docker": DOCKER}), Terminal(file=out, width=400))
    assert out.getvalue().count("factors: {platform: {native-again: {}}}") == 1
