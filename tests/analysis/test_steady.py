"""MSER-5 on series whose truth is known."""

from __future__ import annotations

import math

import numpy as np
from ruptures import KernelCPD

from tare.analysis.steady import BATCH, LEAST_BATCHES, PENALTY, change_points, mser5


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


def test_a_change_of_level_is_found_where_it_is() -> None:
    rng = np.random.default_rng(4)
    series = np.concatenate([np.full(100, 100.0), np.full(140, 90.0)]) + rng.normal(0, 4, 240)
    (found,) = change_points(list(series))
    assert abs(found - 100) <= 10


def test_flat_series_rarely_have_change_points_also_when_autocorrelated() -> None:
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(100):
        noise = rng.normal(0, 5, 300)
        for i in range(1, 300):
            noise[i] += 0.5 * noise[i - 1]
        found += bool(change_points(list(100 + noise)))
    assert found <= 8


def test_short_and_constant_series_have_no_change_points() -> None:
    assert change_points([1.0, 5.0] * 20) == []
    assert change_points([7.0] * 100) == []


def test_change_points_are_those_of_a_library() -> None:
    """Series of whole batches with steps, of unit noise between neighbouring means."""
    rng = np.random.default_rng(6)
    for _ in range(100):
        series = rng.normal(100, 4, BATCH * int(rng.integers(11, 80)))
        for _ in range(rng.integers(0, 4)):
            series[int(rng.integers(0, len(series))) :] += rng.normal(0, 12)
        means = series.reshape(-1, BATCH).mean(axis=1)
        noise = np.median(np.abs(np.diff(means))) / 0.6745 / math.sqrt(2)
        search = KernelCPD(kernel="linear", min_size=LEAST_BATCHES)
        expected = search.fit((means / noise).reshape(-1, 1)).predict(
            pen=PENALTY * math.log(len(means))
        )
        assert change_points(list(series)) == [BATCH * end for end in expected[:-1]]
