"""Matching the conditions of two runs."""

from __future__ import annotations

import pytest

from tare.analysis.comparison.matching import match_conditions
from tare.analysis.model import Analysis, ConditionSummary
from tare.errors import UsageError


def run(**conditions: dict[str, str]) -> Analysis:
    """An analysis in which only the conditions count; underscores in names become dots."""
    summaries = [
        ConditionSummary(
            condition=name.replace("_", "."),
            levels=levels,
            aa_of=None,
            trials=1,
            failed=0,
            metrics={},
            cv={},
        )
        for name, levels in conditions.items()
    ]
    return Analysis(
        study="s", question="", run="r", valid=True, problems=[], baseline="", metrics=[],
        conditions=summaries, effects=[], noise_floor=[], checks=[], parity=[], trials=[],
        series=[], distributions=[], provenance={},
    )  # fmt: skip


NATIVE, DOCKER = {"platform": "native"}, {"platform": "docker"}


def test_by_name() -> None:
    a, b = run(native=NATIVE, docker=DOCKER), run(docker=DOCKER, native=NATIVE)
    assert match_conditions(a, b, {}) == [("docker", "docker"), ("native", "native")]


def test_by_levels_whatever_the_order_of_the_factors() -> None:
    a = run(native_t16={"platform": "native", "threads": "t16"})
    b = run(t16_native={"threads": "t16", "platform": "native"})
    assert match_conditions(a, b, {}) == [("native.t16", "t16.native")]


def test_a_condition_under_another_name() -> None:
    a, b = run(native=NATIVE), run(host={"platform": "host"}, native=NATIVE)
    assert match_conditions(a, b, {"native": "host"}) == [("native", "host")]


def test_a_level_under_another_name_holds_for_all_its_conditions() -> None:
    a = run(
        docker_t16={"platform": "docker", "threads": "t16"},
        docker_t64={"platform": "docker", "threads": "t64"},
    )
    b = run(
        podman_t16={"platform": "podman", "threads": "t16"},
        podman_t64={"platform": "podman", "threads": "t64"},
    )
    pairs = match_conditions(a, b, {"docker": "podman"})
    assert pairs == [("docker.t16", "podman.t16"), ("docker.t64", "podman.t64")]


def test_no_condition_has_two_partners() -> None:
    a, b = run(native=NATIVE, docker=DOCKER), run(docker=DOCKER)
    pairs = match_conditions(a, b, {"native": "docker"})
    assert len(pairs) == 1


def test_nothing_in_common_is_refused_with_both_lists() -> None:
    with pytest.raises(UsageError) as refused:
        match_conditions(run(native=NATIVE), run(docker=DOCKER), {})
    assert "A has native; B has docker" in str(refused.value)
    assert "--map" in str(refused.value)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    a, b = run(native=NATIVE), run(docker=DOCKER)
    with pytest.raises(UsageError, match="did you mean native"):
        match_conditions(a, b, {"nativ": "docker"})
    with pytest.raises(UsageError, match="run B has no condition"):
        match_conditions(a, b, {"native": "dockr"})
