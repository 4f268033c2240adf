"""One-second series in windows and in equal parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.analysis.exhibits.windows import in_parts, in_windows, series_values, window_length
from tests.analysis.exhibits.scene import series, trial


def test_windows_of_thirty_seconds() -> None:
    values = [1.0] * 30 + [2.0] * 30 + [9.0] * 12
    assert in_windows(values, 30) == [1.0, 2.0]  # the last one is not whole


def test_gaps_are_left_out_and_empty_windows_stay_empty() -> None:
    assert in_windows([1.0, None, None, None, 5.0, 7.0], 2) == [1.0, None, 6.0]


def test_windows_need_not_be_whole_seconds() -> None:
    # seconds 0..1 and 1..2 begin in the first window of 2.5 s; so does the one about 2.5
    assert in_windows([1.0, 2.0, 3.0, 4.0, 5.0], 2.5) == [1.5, 4.0]


def test_two_four_and_eight_intervals() -> None:
    values = [float(v) for v in range(16)]
    assert in_parts(values, 2) == [3.5, 11.5]
    assert in_parts(values, 4) == [1.5, 5.5, 9.5, 13.5]
    assert in_parts(values, 8)[-1] == 14.5


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=80), st.integers(1, 20))
def test_parts_hold_every_value_once(values: list[float], parts: int) -> None:
    """The mean of parts, weighed by their sizes, is the mean of the whole."""
    ones = in_parts([1.0] * len(values), parts)
    sizes = [0] * parts
    for k in range(len(values)):
        sizes[int((k + 0.5) * parts / len(values))] += 1
    assert [size > 0 for size in sizes] == [one is not None for one in ones]
    total = sum(s * (v or 0.0) for s, v in zip(sizes, in_parts(values, parts), strict=True))
    assert total == pytest.approx(sum(values))


@pytest.mark.parametrize(
    ("measured", "asked", "window"), [(1200, None, 30), (1200, 60, 60), (60, None, 6), (3, None, 1)]
)
def test_the_window_is_that_of_the_papers_unless_there_is_no_room(
    measured: float, asked: float | None, window: float
) -> None:
    assert window_length(measured, asked) == window


def test_cpu_in_percent_follows_from_busy_cores() -> None:
    """1.5 busy cores on average are 75%, so that the machine has 2."""
    one = trial("native.t10", 1, {"cpu.util": 75.0})
    lines = series(one, machine_cpu=[1.0, 2.0, None, 1.5])
    assert series_values(lines, "cpu.util", one.values) == [50.0, 100.0, None, 75.0]


def test_disk_writes_are_in_the_metrics_unit() -> None:
    one = trial("native.t10", 1, {})
    assert series_values(series(one, disk_write=[8e6]), "disk.write_kbps", {}) == [8000.0]


def test_what_has_no_series_is_none() -> None:
    one = trial("native.t10", 1, {})
    assert series_values(series(one, throughput=[None]), "throughput", {}) is None
    assert series_values(series(one, throughput=[1.0]), "cpu.softirq", {}) is None
    assert series_values(series(one, throughput=[1.0]), "cpu.util", {"cpu.util": 5.0}) is None


def test_the_servers_cpu_follows_from_the_cores_that_no_client_used() -> None:
    one = trial("native.t10", 1, {"cpu.server_util": 50.0})
    lines = series(one, machine_cpu=[1.0, 2.0, 1.5], client_cpu=[0.5, 0.5, None])
    assert series_values(lines, "cpu.server_util", one.values) == [25.0, 75.0, None]
    alone = series(one, machine_cpu=[1.0])
    assert series_values(alone, "cpu.server_util", one.values) is None
