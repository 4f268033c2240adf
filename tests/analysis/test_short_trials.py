"""Throughput that rises within short trials is seen over all of them, and chance is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from tare.analysis.checks.short_trials import change_within


def evidence(*series: list[float | None], steady: bool | None = None) -> Any:
    done = [SimpleNamespace(series={"throughput": list(own)}, steady=steady) for own in series]
    return SimpleNamespace(done=done)


def trials(rise: float, number: int, seed: int, seconds: int = 10) -> list[list[float | None]]:
    """Trials of 1,000 operations/s with 10% of noise, that change linearly by `rise`."""
    noise = np.random.default_rng(seed).normal(0, 0.1, (number, seconds))
    level = 1000 * (1 + rise * np.linspace(0, 1, seconds))
    return [list(row) for row in level * np.exp(noise)]


def test_a_rise_that_no_trial_shows_alone_is_told_with_its_size() -> None:
    told = change_within(evidence(*trials(0.3, 32, seed=1)))
    assert told.startswith("throughput rises within trials by ")
    assert 15 < float(told.split("by ")[1].split("%")[0]) < 25
    assert "median of 32 trials" in told
    assert "load.warmup" in told


def test_a_fall_is_told_too() -> None:
    assert "falls within trials" in change_within(evidence(*trials(-0.3, 32, seed=2)))


def test_noise_alone_is_hardly_ever_taken_for_a_rise() -> None:
    told = [change_within(evidence(*trials(0.0, 20, seed))) for seed in range(200)]
    assert sum(map(bool, told)) <= 4


def test_what_cannot_be_told_is_not() -> None:
    assert change_within(evidence()) == ""
    assert change_within(evidence(*trials(0.5, 4, seed=3))) == ""  # too few
    assert change_within(evidence(*trials(0.5, 9, seed=3), steady=True)) == ""  # judged alone
    assert change_within(evidence(*([[0.0, None, 5.0, 9.0]] * 9))) == ""
    assert change_within(evidence(*([[5.0, 9.0]] * 9))) == ""
