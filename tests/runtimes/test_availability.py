"""What this version cannot run is said, with what to do about it."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from tare.runtimes.availability import RUNTIMES, obstacle
from tare.study.platform import RuntimeName
from tare.study.schema import Setup


def setup(**parts: Any) -> Setup:
    return Setup.model_validate(parts)


@pytest.mark.parametrize(
    "platform",
    [
        {},
        {"runtime": "docker", "network": "host", "storage": "layer"},
        {"runtime": "docker", "network": "published", "storage": "volume"},
    ],
)
def test_nothing_hinders_what_this_version_has(platform: dict[str, str]) -> None:
    assert obstacle(setup(platform=platform)) is None


@pytest.mark.parametrize(
    ("parts", "field", "why"),
    [
        (
            {"platform": {"runtime": "kubernetes", "storage": "pvc"}},
            "platform.runtime",
            "this version has no runtime for kubernetes",
        ),
        (
            {"platform": {"runtime": "swarm"}},
            "platform.runtime",
            "this version has no runtime for swarm",
        ),
        (
            {"platform": {"machines": "kvm"}},
            "platform.machines",
            "this version makes no KVM machines",
        ),
        (
            {"platform": {"machines": "vmware", "runtime": "docker"}},
            "platform.machines",
            "this version makes no VMware machines",
        ),
        (
            {"platform": {"address": "floating-ip"}},
            "platform.address",
            "this version gives machines no floating-ip",
        ),
        (
            {"database": {"kind": "mongodb"}},
            "database.kind",
            "MongoDB's server cannot be fetched, and no directory of it is named",
        ),
        (
            {
                "database": {"kind": "mongodb", "home": "/opt/mongodb"},
                "client": {"tool": "ycsb"},
            },
            "client.tool",
            "this version runs YCSB's own client with CQL only",
        ),
    ],
)
def test_each_obstacle_names_its_field_and_a_command(
    parts: dict[str, Any], field: str, why: str
) -> None:
    found = obstacle(setup(**parts))
    assert found is not None
    assert ".".join(found.field) == field
    assert found.why == why
    assert "`tare " in found.remedy


@pytest.mark.parametrize("threads", ["max", "66% of max"])
def test_two_runs_of_one_comparison_must_not_each_search_their_own_maximum(threads: str) -> None:
    sought = obstacle(setup(platform={"machines": "kvm"}, load={"threads": threads}))
    fixed = obstacle(setup(platform={"machines": "kvm"}, load={"threads": 64}))
    assert sought is not None
    assert fixed is not None
    assert "`--scale printed`" in sought.remedy
    assert "search a maximum of its own" in sought.remedy
    assert "maximum" not in fixed.remedy


def test_several_obstacles_are_all_said() -> None:
    found = obstacle(
        setup(database={"kind": "mongodb"}, platform={"machines": "kvm", "runtime": "swarm"})
    )
    assert found is not None
    assert found.field == ("database", "kind")
    assert found.why.count(";") == 2
    for word in ("MongoDB", "KVM", "swarm"):
        assert word in found.why


def test_every_runtime_that_can_be_declared_is_either_there_or_an_obstacle() -> None:
    for name in get_args(RuntimeName):
        hindered = obstacle(setup(platform={"runtime": name})) is not None
        assert hindered == (name not in RUNTIMES)
