"""Which trials enter a comparison: a baseline that was measured twice counts with both."""

from __future__ import annotations

import math

import pytest

from tare.analysis.inference.comparisons import Compared, Rules, compare_in_blocks
from tare.analysis.inference.contrasts import Contrast, Contrasts
from tare.analysis.inference.estimates import Logs

ROUNDS = (1, 2, 3)
VALUES = {"native": (10.0, 11.0, 10.5), "again": (12.0, 11.5, 12.5), "docker": (14.0, 13.0, 13.5)}


def logs() -> Logs:
    return {
        name: {(r, 1): math.log(value) for r, value in zip(ROUNDS, own, strict=True)}
        for name, own in VALUES.items()
    }


def compared(treatment: str, served: dict[str, str]) -> Compared:
    asked = Contrasts(
        [
            Contrast("native", "again", "platform", {}, aa=True),
            Contrast("native", "docker", "platform", {}, aa=False),
        ],
        [],
        [("native", "again")],
    )
    of = {
        name: frozenset(f"D{r}-{deployment}" for r in ROUNDS) for name, deployment in served.items()
    }
    found = compare_in_blocks(logs(), asked, Rules(by_deployment=True, served=of))
    (one,) = [each for each in found if each.contrast.treatment == treatment]
    return one


def ratio(*baseline: str) -> float:
    """Mean over rounds of docker's log value less the mean log value of these."""
    table = logs()
    own = [
        table["docker"][r, 1] - sum(table[b][r, 1] for b in baseline) / len(baseline)
        for r in ROUNDS
    ]
    return sum(own) / len(own)


APART = {"native": "a", "again": "b", "docker": "c"}


def test_a_treatment_is_compared_with_all_repetitions_of_its_baseline() -> None:
    found = compared("docker", APART)
    assert found.estimate.log_ratio == pytest.approx(ratio("native", "again"))
    assert found.values[1] / found.values[0] == pytest.approx(math.exp(found.estimate.log_ratio))
    assert found.repetitions == 9


def test_the_repetition_itself_is_compared_with_the_baseline_alone() -> None:
    found = compared("again", APART)
    table = logs()
    own = [table["again"][r, 1] - table["native"][r, 1] for r in ROUNDS]
    assert found.estimate.log_ratio == pytest.approx(sum(own) / 3)


@pytest.mark.parametrize(
    "served",
    [
        {"native": "a", "again": "a", "docker": "c"},  # one server under two names
        {"native": "a", "again": "b", "docker": "b"},  # the treatment is the repetition's server
        {"native": "a", "again": "b", "docker": "a"},  # and here the baseline's
        {},  # imported: nobody knows
    ],
)
def test_servers_that_are_not_apart_are_no_repetitions(served: dict[str, str]) -> None:
    assert compared("docker", served).estimate.log_ratio == pytest.approx(ratio("native"))


def test_servers_of_many_conditions_and_of_one_are_not_pooled() -> None:
    """Of servers that take turns, one of many conditions is measured with warmer caches."""
    assert compared("docker", APART).estimate.df > 2
    more = APART | {"docker-published": "c"}
    found = compared("docker", more).estimate
    assert found.df == 2
    assert "different numbers of conditions" in found.method
