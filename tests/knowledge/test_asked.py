"""The question that a condition of a study asks."""

from __future__ import annotations

from typing import Any

import pytest

from tare.knowledge.asked import asked_of, questions_of
from tare.study.conditions import expand
from tare.study.schema import Setup, Study


def setup(**platform: Any) -> Setup:
    return Setup.model_validate({"platform": platform})


DOCKER = {"runtime": "docker", "network": "bridge", "storage": "volume"}


@pytest.mark.parametrize(
    ("treatment", "baseline", "platform", "over"),
    [
        (DOCKER, {}, "docker", "native"),
        ({"machines": "kvm"}, {}, "kvm", "native"),
        ({"machines": "kvm"}, {"machines": "vmware"}, "kvm", "vmware"),
        ({"machines": "kvm", **DOCKER}, {}, "docker", "native"),
        ({"machines": "kvm", **DOCKER}, DOCKER, "kvm", "native"),
        ({"runtime": "swarm"}, DOCKER, "swarm", "docker"),
    ],
)
def test_what_changes_is_what_is_asked_about(
    treatment: dict[str, str], baseline: dict[str, str], platform: str, over: str
) -> None:
    asked = asked_of(setup(**treatment), setup(**baseline))
    assert (asked.platform, asked.over) == (platform, over)


def test_a_database_that_is_only_declared_can_be_asked_about() -> None:
    mongodb = Setup.model_validate(
        {"database": {"kind": "mongodb", "version": "3.2.4"}, "platform": DOCKER}
    )
    asked = asked_of(mongodb, Setup())
    assert (asked.database, asked.version) == ("mongodb", "3.2.4")


def test_another_plugin_is_a_question_of_its_own() -> None:
    kubernetes = {"runtime": "kubernetes", "network": "service-ip", "storage": "host-path"}
    study = Study.model_validate(
        {
            "study": "x",
            "platform": kubernetes | {"plugin": "weave"},
            "factors": {"plugin": {"weave": {}, "flannel": {"platform.plugin": "flannel-vxlan"}}},
            "baseline": {"plugin": "weave"},
        }
    )
    conditions = expand(study)
    (question,) = questions_of(conditions, conditions[0]).values()
    assert (question.platform, question.over) == ("kubernetes", "kubernetes")


@pytest.mark.parametrize(
    ("load", "at_rate", "threads"),
    [
        ({"threads": 8}, None, 8),
        ({"rate": 5000}, True, None),
        ({"rate": "66% of max"}, None, None),
        (
            {"phases": [{"for": "5s", "rate": 100}, {"for": "5s", "rate": 100, "to": 900}]},
            True,
            None,
        ),
    ],
)
def test_an_open_loop_asks_about_a_rate_of_unknown_weight(
    load: dict[str, Any], at_rate: bool | None, threads: int | None
) -> None:
    asked = asked_of(Setup.model_validate({"load": load, "platform": DOCKER}), Setup())
    assert (asked.at_rate, asked.threads) == (at_rate, threads)
    assert ("load at a set rate" in asked.words()) == bool(at_rate)


def test_another_rate_is_no_question_of_its_own() -> None:
    study = Study.model_validate(
        {
            "study": "x",
            "load": {"rate": 1000},
            "factors": {
                "platform": {"native": {}, "docker": {"platform": DOCKER}},
                "load": {"slow": {}, "fast": {"load.rate": 2000}},
            },
            "baseline": {"platform": "native", "load": "slow"},
        }
    )
    conditions = expand(study)
    assert list(questions_of(conditions, conditions[0])) == ["docker.slow"]
