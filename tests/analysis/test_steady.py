"""MSER-5 on series whose truth is known."""

from __future__ import annotations

import numpy as np

from tare.analysis.steady import mser5


def test_short_series_tell_nothing() -> None:
    assert mser5([1.0] * 54) is None


def test_a_start_up_transient_is_cut_and_the_rest_is_steady() -> None:
    rng = np.random.default_rng(1)
    series = np.concatenate([np.linspace(0, 100, 20), np.full(180, 100.0)]) + rng.normal(0, 1, 200)
    found = mser5(list(series))
    assert found is not None
    assert found.steady
    assert 15 <= found.intervals <= 25


def test_a_series_that_changes_late_is_not_steady() -> None:
    series = np.concatenate([np.full(150, 100.0), np.full(50, 50.0)])
    found = mser5(list(series + np.random.default_rng(2).normal(0, 1, 200)))
    assert found is not None
    assert not found.steady


def test_flat_series_are_rarely_found_restless() -> None:
    rng = np.random.default_rng(3)
    found = [mser5(list(rng.normal(100, 5, 120))) for _ in range(300)]
    assert np.mean([one is not None and one.steady for one in found]) > 0.85
