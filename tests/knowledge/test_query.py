"""The question that a study's condition asks."""

from __future__ import annotations

from typing import Any

import pytest

from tare.knowledge.query import queries_of, query_of
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
        ({"machines": "kvm", **DOCKER}, {"machines": "kvm"}, "docker", "native"),
        ({"machines": "kvm", **DOCKER}, DOCKER, "kvm", "native"),
        ({"runtime": "swarm"}, DOCKER, "swarm", "docker"),
    ],
)
def test_what_changes_is_what_is_asked_about(
    treatment: dict[str, str], baseline: dict[str, str], platform: str, over: str
) -> None:
    asked = query_of(setup(**treatment), setup(**baseline))
    assert (asked.platform, asked.over) == (platform, over)


def test_a_guest_on_both_sides_is_a_virtual_machine_and_no_question() -> None:
    inside = query_of(setup(machines="kvm", runtime="swarm"), setup(machines="kvm"))
    assert (inside.platform, inside.over, inside.machines) == ("swarm", "native", "vm")
    assert query_of(setup(machines="kvm"), setup()).machines == ""


def test_a_level_of_the_factor_instance_names_the_machine() -> None:
    levels = {"instance": "m3-large", "threads": "30"}
    assert query_of(setup(**DOCKER), setup(), levels).instance == "m3-large"
    assert query_of(setup(**DOCKER), setup()).instance == ""


def test_a_mix_of_the_study_is_asked_about() -> None:
    mixed = {"workload": "stress-mixed", "mix": {"read": 1, "write": 1}}
    asked = query_of(Setup.model_validate({"load": mixed, "platform": DOCKER}), Setup())
    assert asked.reads == 0.5


def test_a_mixed_load_that_is_driven_here_reads_as_often_as_it_writes() -> None:
    # the tool's default ratio; the sources used 3 to 1
    load = {"workload": "stress-mixed"}
    asked = query_of(Setup.model_validate({"load": load, "platform": DOCKER}), Setup())
    assert asked.reads == 0.5


def test_another_address_is_what_is_replaced() -> None:
    named = query_of(setup(address="host-name"), setup(address="floating-ip"))
    assert named.replaced == {"address": ("host-name", "floating-ip")}


def test_a_database_that_is_only_declared_can_be_asked_about() -> None:
    mongodb = Setup.model_validate(
        {"database": {"kind": "mongodb", "version": "3.2.4"}, "platform": DOCKER}
    )
    asked = query_of(mongodb, Setup())
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
    (question,) = queries_of(conditions, conditions[0]).values()
    assert (question.platform, question.over) == ("kubernetes", "kubernetes")
    assert question.replaced == {"plugin": ("flannel-vxlan", "weave")}


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
    asked = query_of(Setup.model_validate({"load": load, "platform": DOCKER}), Setup())
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
    assert list(queries_of(conditions, conditions[0])) == ["docker.slow"]
