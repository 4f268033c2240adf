"""Histogram logs: decoded, merged exactly, and damage named."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import RecordError
from tare.records.hlog import Latencies, merged, read_hlog

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

HIGHEST_NS = 60_000_000_000
nanoseconds = st.lists(st.integers(1, HIGHEST_NS), min_size=1, max_size=200)


def histogram(values: Iterable[int], highest: int = HIGHEST_NS, digits: int = 3) -> HdrHistogram:
    made = HdrHistogram(1, highest, digits)
    for value in values:
        made.record_value(value)
    return made


def line(tag: str, values: Iterable[int], start: float = 0.0, highest: int = HIGHEST_NS) -> str:
    text = histogram(values, highest).encode().decode()
    return f"Tag={tag},{start:.3f},1.000,0.123,{text}"


def write(path: Path, *lines: str) -> Path:
    header = ["#[Histogram log format version 1.3]", "#[StartTime: 5.0 (seconds since epoch)]"]
    legend = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
    path.write_text("\n".join([*header, legend, *lines]) + "\n")
    return path


def test_lines_of_one_tag_add_up_and_tags_stay_apart(tmp_path: Path) -> None:
    log = read_hlog(
        write(
            tmp_path / "latency-c1.hlog",
            line("READ-rt", [1_000_000, 2_000_000]),
            line("UPDATE-rt", [5_000_000]),
            line("READ-rt", [3_000_000], start=1.0),
        )
    )
    assert {tag: part.total for tag, part in log.totals.items()} == {"READ-rt": 3, "UPDATE-rt": 1}
    assert log.totals["READ-rt"].quantiles_us([100.0]) == pytest.approx([3000], rel=1e-3)
    assert [(r.start_s, r.latencies.total) for r in log.responses] == [(0.0, 3), (1.0, 1)]
    assert log.responses[0].p99_us == pytest.approx(5000, rel=1e-3)
    assert log.damage == []


def test_an_interval_without_operations_is_nothing(tmp_path: Path) -> None:
    log = read_hlog(write(tmp_path / "a.hlog", line("READ-rt", []), line("READ-rt", [7_000])))
    assert log.totals["READ-rt"].total == 1
    assert log.damage == []


def test_histograms_that_grew_to_different_sizes_add_up(tmp_path: Path) -> None:
    log = read_hlog(
        write(
            tmp_path / "a.hlog",
            line("READ-rt", [4_000], highest=8_191),
            line("READ-rt", [9_000_000_000], highest=HIGHEST_NS),
        )
    )
    assert log.totals["READ-rt"].quantiles_us([50.0, 100.0]) == pytest.approx([4.0, 9e6], rel=1e-3)


@pytest.mark.parametrize(
    "bad",
    [
        "Tag=READ-rt,0.000,1.000,0.1,HISTFAAAAC",
        "Tag=READ-rt,0.000,1.000,0.1,not base64 at all!",
        "Tag=READ-rt,0.000,1.0",
        "Tag=READ-rt,zero,1.000,0.1," + "A" * 40,
        "Tag=READ-rt,0.000,1.000,0.1," + "A" * 2_000_000,
        "half a line",
    ],
)
def test_unreadable_lines_are_named_and_the_rest_is_read(tmp_path: Path, bad: str) -> None:
    log = read_hlog(write(tmp_path / "a.hlog", bad, line("READ-rt", [1_000])))
    assert log.totals["READ-rt"].total == 1
    (sentence,) = log.damage
    assert sentence.startswith("a.hlog:4: unreadable histogram")


def test_a_valid_wrapper_around_rubbish_is_damage(tmp_path: Path) -> None:
    payload = zlib.compress(b"\x00" * 64)
    header = (0x1C849314).to_bytes(4, "big") + len(payload).to_bytes(4, "big")
    text = base64.b64encode(header + payload).decode()
    log = read_hlog(write(tmp_path / "a.hlog", f"Tag=READ-rt,0.0,1.0,0.1,{text}"))
    assert len(log.damage) == 1
    assert log.totals.get("READ-rt", Latencies()).total == 0


def test_a_missing_log_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(RecordError) as caught:
        read_hlog(tmp_path / "none.hlog")
    assert caught.value.where.endswith("none.hlog")


def test_nothing_has_no_quantiles_and_no_mean() -> None:
    assert Latencies().quantiles_us([50.0]) == []
    assert Latencies().mean_us() is None


def test_resolutions_do_not_mix() -> None:
    fine = Latencies.of(histogram([1_000], digits=3))
    with pytest.raises(RecordError, match="different resolution"):
        fine.add(Latencies.of(histogram([1_000], digits=2)))


@given(nanoseconds)
def test_quantiles_and_mean_are_those_of_the_values(values: list[int]) -> None:
    """They agree at HdrHistogram's rank, to the histogram's resolution of 3 digits."""
    found = Latencies.of(histogram(values))
    percentiles = [1.0, 50.0, 90.0, 99.0, 100.0]
    exact = np.percentile(values, percentiles, method="inverted_cdf") / 1e3
    assert found.quantiles_us(percentiles) == pytest.approx(exact, rel=1e-3, abs=1e-3)
    assert found.mean_us() == pytest.approx(np.mean(values) / 1e3, rel=1e-3, abs=1e-3)


@given(nanoseconds)
def test_the_maximum_agrees_with_the_library(values: list[int]) -> None:
    library = histogram(values)
    assert Latencies.of(library).quantiles_us([100.0]) == [library.get_max_value() / 1e3]


@given(nanoseconds, nanoseconds)
def test_merging_is_recording_everything_in_one(first: list[int], second: list[int]) -> None:
    together = Latencies.of(histogram(first + second))
    apart = merged([Latencies.of(histogram(first)), Latencies.of(histogram(second))])
    assert np.array_equal(apart.counts, together.counts)


def test_merging_leaves_the_parts_as_they_were() -> None:
    first, second = Latencies.of(histogram([10])), Latencies.of(histogram([HIGHEST_NS]))
    merged([first, second, first])
    assert (first.total, second.total) == (1, 1)
