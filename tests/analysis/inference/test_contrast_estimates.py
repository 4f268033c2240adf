"""Which trials enter a comparison: a baseline that was measured twice counts with both."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tare.analysis.inference.averages import How
from tare.analysis.inference.contrast_estimates import Compared, Rules, compare_in_blocks
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
    """Mean over rounds of docker's log value minus these conditions' mean log value."""
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
    """If servers take turns, a server with many conditions is measured with warmer caches."""
    assert compared("docker", APART).estimate.df > 2
    more = APART | {"docker-published": "c"}
    found = compared("docker", more).estimate
    assert found.df == 2
    assert "different numbers of conditions" in found.method


def averaged(how: How, missing: bool) -> Compared:
    """One pair without a difference; the slow round may miss the treatment."""
    own = {(1, 1): 1000.0, (2, 1): 500.0, (3, 1): 1000.0}
    table = {
        name: {cell: math.log(value) for cell, value in own.items()} for name in ("base", "treated")
    }
    if missing:
        del table["treated"][2, 1]
    rows = ((("base", "treated"),),)
    asked = Contrasts([Contrast("B", "T", "f", {}, aa=False, over=("x",), rows=rows)], [], [])
    (found,) = compare_in_blocks(table, asked, Rules(by_deployment=True, how=how))
    return found


@pytest.mark.parametrize("how", ["mean-of-ratios", "ratio-of-means", "model"])
@pytest.mark.parametrize("missing", [False, True])
def test_an_average_gains_nothing_from_a_slow_round_that_it_missed(
    how: How, *, missing: bool
) -> None:
    found = averaged(how, missing)
    assert found.estimate.log_ratio == pytest.approx(0.0, abs=1e-12)
    assert ("mean of the log-ratios" in found.estimate.method) == (missing or how == "model")


def coverage(servers: tuple[int, ...], treatment: int, rounds: int, sd: float) -> float:
    """How often 95% intervals hold no difference, of conditions that do not differ.

    Args:
        servers: condition to its server, of which each round makes new ones that differ by `sd`.
            A condition differs by 0.01 besides.
    """
    rng = np.random.default_rng(11)
    names = [f"c{number}" for number in range(len(servers))]
    of = {
        name: frozenset(f"D{r}-{server}" for r in range(rounds))
        for name, server in zip(names, servers, strict=True)
    }
    asked = Contrasts([Contrast("c0", name, "f", {}, aa=False) for name in names[1:]], [], [])
    hit, studies = 0, 2000
    for _ in range(studies):
        made = rng.normal(0, sd, (max(servers) + 1, rounds))
        table = {
            name: {(r + 1, 1): made[server, r] + rng.normal(0, 0.01) for r in range(rounds)}
            for name, server in zip(names, servers, strict=True)
        }
        found = compare_in_blocks(table, asked, Rules(by_deployment=True, served=of))
        (one,) = [each for each in found if each.contrast.treatment == names[treatment]]
        low, high = one.estimate.interval(0.95)
        hit += low <= 0 <= high
    return hit / studies


@pytest.mark.parametrize(
    ("servers", "treatment", "rounds", "sd"),
    [
        ((0, 0, 1, 1), 2, 6, 0.1),  # between servers of two conditions each
        ((0, 0, 1, 1), 1, 6, 0.1),  # inside one of them
        ((0, 0, 1), 2, 3, 0.02),
        ((0, 1, 2, 3), 2, 6, 0.02),  # each condition on a server of its own
    ],
)
def test_intervals_hold_where_conditions_share_servers(
    servers: tuple[int, ...], treatment: int, rounds: int, sd: float
) -> None:
    """Standard error of a coverage of 95% over 2,000 studies: 0.5%."""
    assert coverage(servers, treatment, rounds, sd) == pytest.approx(0.95, abs=0.015)
