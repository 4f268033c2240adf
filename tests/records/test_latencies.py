"""Percentiles of many rows of histograms at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tare.records.latencies import Latencies, merged, row_quantiles_us

PARTS = st.lists(st.lists(st.integers(0, 3000), max_size=20), max_size=3)


def part(indices: list[int]) -> Latencies:
    first = min(indices, default=0)
    return Latencies(np.bincount(np.array(indices, dtype=int) - first), first=first)


@given(st.lists(PARTS, max_size=5), st.sampled_from([0.0, 50.0, 99.0, 100.0]))
def test_a_row_is_its_parts_merged(rows: list[list[list[int]]], percentile: float) -> None:
    table = [[part(indices) for indices in row] for row in rows]
    expected = [merged(row).quantiles_us([percentile]) or [None] for row in table]
    assert row_quantiles_us(table, percentile) == [values[0] for values in expected]


def test_rows_of_different_resolution_are_asked_one_by_one() -> None:
    fine, coarse = Latencies(np.array([0, 5]), half=10), Latencies(np.array([0, 0, 5]), half=7)
    expected = [one.quantiles_us([99.0])[0] for one in (fine, coarse)]
    assert row_quantiles_us([[fine], [coarse]], 99.0) == expected
