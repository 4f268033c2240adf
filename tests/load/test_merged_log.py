"""`tare-load merge`, read with the public HdrHistogram package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

BINARY = os.environ.get("TARE_TEST_LOAD", str(Path(sys.executable).with_name("tare-load")))
HIGHEST = 3_600_000_000_000
START_MS = 1_795_264_583_000
TAGS = ("READ-rt", "UPDATE-rt")

pytestmark = pytest.mark.skipif(
    not Path(BINARY).exists(), reason="tare-load is not installed; `make test` installs and runs it"
)


def values(client: int, second: int, tag: str) -> list[int]:
    """One client's latencies in one second, nanoseconds."""
    slow = 7 if tag == "UPDATE-rt" else 1
    return [slow * 1000 * (client * 37 + second * 11 + i * i) for i in range(1, 40)]


def write(path: Path, client: int, seconds: int) -> None:
    """A log with histograms as the package encodes them; clients start 4 ms after one another."""
    begin = START_MS / 1000 + 0.004 * client
    lines = [f"#[StartTime: {begin:.3f} (seconds since epoch)]"]
    lines += [f"#[BaseTime: {begin:.3f} (seconds since epoch)]"]
    for second in range(seconds):
        for tag in TAGS:
            histogram = HdrHistogram(1, HIGHEST, 3)
            for value in values(client, second, tag):
                histogram.record_value(value)
            encoded = histogram.encode().decode()
            lines.append(f"Tag={tag},{second}.000,1.000,{histogram.get_max_value()},{encoded}")
    path.write_text("\n".join(lines) + "\n")


def counts(path: Path) -> dict[tuple[str, int], dict[int, int]]:
    """Value to count by tag and second, from the package's reader."""
    reader = HistogramLogReader(str(path), HdrHistogram(1, HIGHEST, 3))
    found: dict[tuple[str, int], dict[int, int]] = {}
    while (histogram := reader.get_next_interval_histogram()) is not None:
        second = round((histogram.get_start_time_stamp() - START_MS) / 1000)
        recorded = histogram.get_recorded_iterator()
        found[histogram.get_tag(), second] = {
            item.value_iterated_to: item.count_at_value_iterated_to for item in recorded
        }
    return found


def test_every_interval_holds_what_a_single_client_would_have_recorded(tmp_path: Path) -> None:
    logs = [tmp_path / "c1.hlog", tmp_path / "c2.hlog", tmp_path / "c3.hlog"]
    for client, log in enumerate(logs):
        write(log, client, seconds=3 if client < 2 else 2)
    merged = tmp_path / "all.hlog"
    subprocess.run([BINARY, "merge", *map(str, logs), "-o", str(merged)], check=True)
    expected: dict[tuple[str, int], dict[int, int]] = {}
    for second in range(3):
        for tag in TAGS:
            histogram = HdrHistogram(1, HIGHEST, 3)
            for client in range(3 if second < 2 else 2):
                for value in values(client, second, tag):
                    histogram.record_value(value)
            expected[tag, second] = {
                item.value_iterated_to: item.count_at_value_iterated_to
                for item in histogram.get_recorded_iterator()
            }
    assert counts(merged) == expected


def test_a_damaged_log_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    whole, damaged, merged = (tmp_path / name for name in ("c1.hlog", "c2.hlog", "all.hlog"))
    write(whole, 0, seconds=2)
    damaged.write_text(whole.read_text()[:-40])
    words = [BINARY, "merge", str(whole), str(damaged), "-o", str(merged)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "c2.hlog, line" in done.stderr
    assert not merged.exists()
