"""Histograms added up in place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tare.errors import RecordError
from tare.records.latencies import Latencies, Sum, merged

PARTS = st.lists(st.lists(st.integers(0, 9000), max_size=20), max_size=5)


def part(indices: list[int]) -> Latencies:
    first = min(indices, default=0)
    return Latencies(np.bincount(np.array(indices, dtype=int) - first), first=first)


@given(PARTS, PARTS)
def test_a_sum_is_its_parts_merged_and_can_begin_anew(
    before: list[list[int]], own: list[list[int]]
) -> None:
    total = Sum()
    for parts in (before, own):
        total.clear()
        for indices in parts:
            total.add(part(indices))
        found, expected = total.latencies(), merged(map(part, parts))
        assert found.counts.tolist() == expected.counts.tolist()
        assert found.first == expected.first or not expected.counts.size


def test_a_sum_keeps_to_one_resolution() -> None:
    total = Sum()
    total.add(Latencies(np.array([5]), half=7))
    with pytest.raises(RecordError, match="different resolution"):
        total.add(Latencies(np.array([5]), half=10))
    assert total.latencies().half == 7


@given(st.lists(st.integers(0, 900), min_size=3, max_size=60))
def test_the_shape_is_that_of_the_values(values: list[int]) -> None:
    """Bins below 1024 ns are 1 ns wide, so their midpoints are 0.5 ns off the values."""
    found = part(values).shape()
    if len(set(values)) < 2:
        assert found is None
        return
    assert found == pytest.approx(
        (stats.skew(values), stats.kurtosis(values, fisher=False)), rel=1e-6, abs=1e-6
    )
