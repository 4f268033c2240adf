"""Microseconds become nanoseconds without moving a value by more than its own rounding."""

from __future__ import annotations

from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from tare.load.tools.nanoseconds import in_nanoseconds
from tare.records.hlog import parse_line


def line(values: list[int]) -> str:
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        histogram.record_value(value)
    return f"Tag=READ-rt,1.500,1.000,0.100,{histogram.encode().decode()}"


@given(st.lists(st.integers(1, 60_000_000), min_size=1, max_size=30))
def test_every_value_stays_within_its_microseconds_and_three_digits(values: list[int]) -> None:
    scaled = in_nanoseconds(line(values))
    assert scaled is not None
    found = parse_line(scaled)
    assert (found.start_s, found.length_s, found.latencies.total) == (1.5, 1.0, len(values))
    mean = (sum(values) / len(values) + 0.5) * 1000
    seen = (found.latencies.mean_us() or 0.0) * 1000
    assert abs(seen / mean - 1) < 2e-3 + 500 / mean


def test_an_empty_interval_is_left_out() -> None:
    assert in_nanoseconds(line([])) is None
