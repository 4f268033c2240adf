"""The noise floor of identical conditions."""

from __future__ import annotations

import math

import pytest

from tare.analysis.inference.noise_floor import noise_floor

TWINS = ("native", "native-again")


def test_the_floor_is_the_95th_percentile_of_the_pairs() -> None:
    changes = [0.01 * (-1) ** i * (i + 1) for i in range(21)]
    logs = {
        "native": {(1, b): 5.0 for b in range(21)},
        "native-again": {(1, b): 5.0 + change for b, change in enumerate(changes)},
    }
    found = noise_floor("p99", TWINS, logs, 0.1, by_deployment=True)
    assert found is not None
    assert found.floor == pytest.approx(math.expm1(0.20))
    assert found.exceeds_margin
    assert found.deployment_floor is None


def test_over_deployments_opposite_pairs_cancel() -> None:
    logs = {
        "native": {(r, b): 0.0 for r in (1, 2) for b in (1, 2)},
        "native-again": {(r, b): 0.1 * (-1) ** b for r in (1, 2) for b in (1, 2)},
    }
    found = noise_floor("p99", TWINS, logs, None, by_deployment=True)
    assert found is not None
    assert found.deployment_floor == pytest.approx(0)
    assert found.floor == pytest.approx(math.expm1(0.1))
    assert not found.exceeds_margin


def test_without_a_common_block_there_is_none() -> None:
    logs = {"native": {(1, 1): 0.0}, "native-again": {(1, 2): 0.0}}
    assert noise_floor("p99", TWINS, logs, 0.1, by_deployment=True) is None


def test_rounds_of_several_lives_have_no_floor_of_deployments() -> None:
    logs = {name: {(r, 1): 0.1 * r for r in (1, 2)} for name in TWINS}
    found = noise_floor("p99", TWINS, logs, 0.1, by_deployment=False)
    assert found is not None
    assert found.deployment_floor is None
