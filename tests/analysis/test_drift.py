"""Drift that all conditions share is seen, and moods of single blocks are not mistaken for it."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tare.analysis.checks import cluster

BLOCKS = 4
STUDIES = 400


def trials(seed: int, drift: float = 0.0, rounds: int = 3, mood: float = 0.05) -> list[Any]:
    """Six conditions on servers that live for a round; of a block they share the mood, so that the
    default correlates them by 0.95."""
    rng = np.random.default_rng([seed, 7])
    found = []
    for round_ in range(1, rounds + 1):
        levels = rng.normal(0, 0.02, 6)
        for block in range(1, BLOCKS + 1):
            shared = rng.normal(0, mood) + drift * block
            for number, own in enumerate(levels + rng.normal(0, 0.0115, 6)):
                found.append(trial(f"c{number}", round_, block, shared + own))
    return found


def trial(condition: str, round_: int, block: int, log: float) -> Any:
    return SimpleNamespace(
        name=f"D{round_}-B{block:02}-{condition}",
        condition=condition,
        values={"throughput": 4000 * math.exp(log)},
        steady=None,
        change_points=[],
        series={},
        manifest=SimpleNamespace(
            round=round_, block=block, deployment=f"D{round_}-{condition}", slices=None
        ),
    )


def told(done: list[Any]) -> bool:
    """Whether the check says that all conditions change together."""
    names = sorted({one.condition for one in done})
    evidence: Any = SimpleNamespace(
        done=done,
        by_deployment=True,
        imported=False,
        design=SimpleNamespace(blocks=BLOCKS),
        conditions=[SimpleNamespace(name=name) for name in names],
    )
    return "all conditions together" in cluster.steady(evidence).summary


@pytest.mark.parametrize("rounds", [1, 3])
def test_moods_of_blocks_are_hardly_ever_taken_for_a_drift(rounds: int) -> None:
    """At 1%; with trials counted one by one in a third: 41% with one round, 30% with three."""
    alarms = sum(told(trials(seed, rounds=rounds)) for seed in range(STUDIES))
    assert alarms <= 0.02 * STUDIES


def test_blocks_without_a_mood_are_no_worse() -> None:
    alarms = sum(told(trials(seed, mood=0.0)) for seed in range(STUDIES))
    assert alarms <= 0.02 * STUDIES


def test_a_drift_beyond_the_moods_is_found() -> None:
    found = sum(told(trials(seed, drift=0.05, mood=0.02)) for seed in range(100))
    assert found >= 95


def test_a_condition_that_misses_a_block_leaves_the_slope_of_the_others_as_it_is() -> None:
    """A slow condition misses the last block, which would look fast otherwise."""
    logs = {"a": 0.0, "b": 0.1, "slow": -1.0}
    done = [
        trial(name, round_, block, log + 0.03 * block + 0.01 * (round_ * block % 3))
        for round_ in (1, 2)
        for block in range(1, BLOCKS + 1)
        for name, log in logs.items()
    ]
    whole = cluster.shared_slope(done)
    lacking = [one for one in done if (one.condition, one.manifest.block) != ("slow", BLOCKS)]
    assert cluster.shared_slope(lacking) == pytest.approx(whole, rel=1e-6)


def test_blocks_of_an_interrupted_round_are_compared_within_the_lives_that_served_them() -> None:
    """The servers of the last three blocks are new ones, and twice as fast."""
    done = [
        trial(name, 1, block, 0.01 * (block % 2) + (0.7 if block > 3 else 0.0))
        for block in range(1, 7)
        for name in ("a", "b", "c")
    ]
    for one in done:
        one.manifest.deployment += "-2" if one.manifest.block > 3 else ""
    slope, _ = cluster.shared_slope(done)
    assert slope == pytest.approx(0.0, abs=1e-9)
