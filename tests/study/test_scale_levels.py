"""A scale keeps the differences between levels: loop, shares of a maximum, limits, A/A levels."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.study.conditions import expand
from tare.study.document import read_document
from tare.study.intensity import share_of_max
from tare.study.read import load_study

if TYPE_CHECKING:
    from tare.study.conditions import Condition
    from tests.study.conftest import ReadStudy, RefuseStudy

STUDIES = Path(__file__).parents[2] / "studies"
SCALED = [
    (path.stem, scale)
    for path in sorted(STUDIES.glob("*.yaml"))
    for scale in (read_document(path).data or {}).get("scales", {})
]


def one_factor(first: str, second: str, scale: str) -> str:
    """A study of one factor with two levels, and one scale on its last line (4)."""
    return (
        f"study: x\nfactors: {{f: {{a: {{{first}}}, b: {{{second}}}}}}}\nbaseline: {{f: a}}\n"
        f"scales: {{tiny: {{{scale}}}}}\n"
    )


MEMORY = "platform: {runtime: docker, limits: {memory: 2GiB}}"


@pytest.mark.parametrize(
    ("first", "second", "scale", "what"),
    [
        # Docker alone with a quota
        ("", MEMORY, "factors.f.b: {platform.limits.cpus: 1}", "level b does not set it"),
        (
            "",
            MEMORY,
            "factors.f.b: {platform.limits.memory: null}",
            "no limit in a and no limit in b",
        ),
        ("", MEMORY, "platform.limits.memory: 1GiB", "a limit in a and a limit in b"),
        # one loop open, one closed
        (
            "load.threads: 32",
            "load.threads: 64",
            "factors.f.a: {load.rate: 100}",
            "level a does not set it",
        ),
        (
            "load.threads: 32",
            "load.threads: 64",
            "factors.f: {a: {load.rate: 100}, b: {load.rate: null}}",
            "load.rate would be a number in a and unset (a closed loop) in b",
        ),
        ("load.rate: 100", "", "load.rate: 10", "load.rate would be a number in a and a number"),
        # one a number, one a share of a maximum
        (
            "load.threads: max",
            "load.threads: 66% of max",
            "factors.f.a: {load.threads: 100}",
            "load.threads would be a number in a and a share of the maximum in b",
        ),
        (
            "load.rate: 10",
            "load.rate: 20",
            "factors.f.b: {load.rate: 50% of max}",
            "load.rate would be a number in a and a share of the maximum in b",
        ),
        # A/A: the same setup under two names
        (
            "load.threads: 8",
            "load.threads: 8",
            "factors.f.a: {load.threads: 4}",
            "levels a and b of f would differ",
        ),
        ("database.heap: 1GiB", "", "database.heap: 1GiB", "levels a and b of f would be the same"),
    ],
)
def test_levels_differ_at_every_scale_as_in_the_study(
    refuse: RefuseStudy, first: str, second: str, scale: str, what: str
) -> None:
    error = refuse(one_factor(first, second, scale))
    assert error.where == "study.yaml:4"
    assert error.what.startswith("scales.tiny.")
    assert what in error.what
    assert error.remedy


@pytest.mark.parametrize(
    ("first", "second", "scale"),
    [
        ("load.threads: 8", "load.threads: 64", "factors.f.b: {load.threads: 16}"),
        ("load.rate: 100", "", "factors.f.a: {load.rate: 10}"),
        (
            "load.threads: max",
            "load.threads: 66% of max",
            "factors.f: {a: {load.threads: 450}, b: {load.threads: 150}}",
        ),
        (
            "platform.limits.cpus: 1",
            "platform.limits.cpus: 2",
            'factors.f: {a.platform.limits: {cpus: null, cpuset: "0"}, '
            'b.platform.limits: {cpus: null, cpuset: "0-1"}}',
        ),
        ("", MEMORY, "platform.limits.cpus: 1"),  # both alike
    ],
)
def test_sizes_of_the_same_kind_are_for_a_scale_to_set(
    read: ReadStudy, first: str, second: str, scale: str
) -> None:
    assert read(one_factor(first, second, scale), scale="tiny").scale == "tiny"


def kind(one: Condition) -> tuple[object, ...]:
    """A condition's loop, maximum and limits, but not their sizes."""
    load, platform, client = one.setup.load, one.setup.platform, one.setup.client
    limits = (
        value is None
        for part in (platform.limits, client.limits)
        for value in part.model_dump().values()
    )
    shares = (share_of_max(load.rate) is None, share_of_max(load.threads) is None)
    return load.rate is None, *shares, *limits


@cache
def kinds(name: str, scale: str | None) -> list[list[bool]]:
    """The conditions of each kind in a shipped study, at this scale or its own."""
    found = [kind(one) for one in expand(load_study(STUDIES / f"{name}.yaml", scale=scale))]
    distinct = list(dict.fromkeys(found))
    return [[one == own for one in found] for own in distinct]


@pytest.mark.parametrize(("name", "scale"), SCALED)
def test_shipped_scales_keep_which_conditions_are_of_one_kind(name: str, scale: str) -> None:
    assert kinds(name, scale) == kinds(name, None)


def test_a_scale_that_is_named_and_not_there_is_refused(refuse: RefuseStudy) -> None:
    """Records would name the size of a scale that was never applied."""
    error = refuse("study: x\nscale: day\n")
    assert (error.where, error.what) == ("study.yaml:2", "scale day: the study has no scales")
    assert "scales: {day: {}}" in error.remedy
