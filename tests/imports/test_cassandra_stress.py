"""Printed results of several versions of cassandra-stress are read."""

from __future__ import annotations

import pytest

from tare.imports import cassandra_stress
from tare.imports.file_content import FileReading, PrintedInterval, UnreadableError
from tests.imports.conftest import DATA

MIXED = (DATA / "stress-3.11.2-mixed-j17.txt").read_text(encoding="utf-8")
# 2.1 prints no units
OLD = """\
Running WRITE with 50 threads for 1000000 iterations
type,      total ops,    op/s,    pk/s,   row/s,    mean,     med,     .95,     .99,    .999,     max,   time,   stderr, errors,  gc: #,  max ms,  sum ms,  sdv ms,      mb
total,        2000,    2000,    2000,    2000,     1.5,     1.2,     2.9,     4.9,    14.8,    14.8,    1.0,  0.00000,      0,      0,       0,       0,       0,       0
total,        4000,    2000,    2000,    2000,     1.5,     1.2,     2.9,     5.9,    14.8,    14.8,    2.0,  0.00000,      0,      0,       0,       0,       0,       0

Results:
op rate                   : 2000 [WRITE:2000]
partition rate            : 2000 [WRITE:2000]
row rate                  : 2000 [WRITE:2000]
latency mean              : 1.5 [WRITE:1.5]
latency median            : 1.2 [WRITE:1.2]
latency 95th percentile   : 2.9 [WRITE:2.9]
latency 99th percentile   : 4.9 [WRITE:4.9]
latency 99.9th percentile : 14.8 [WRITE:14.8]
latency max               : 14.8 [WRITE:14.8]
Total partitions          : 4000 [WRITE:4000]
Total errors              : 3 [WRITE:3]
total gc count            : 0
Total operation time      : 00:00:02
END
"""  # noqa: E501 - as printed


def read(text: str) -> FileReading:
    (reading,) = cassandra_stress.read(text.encode())
    return reading


def test_a_real_mixed_result() -> None:
    reading = read(MIXED)
    assert reading.values == {
        "throughput": 576, "errors": 0,
        "all.mean": 54800, "read.mean": 60100, "write.mean": 38600,
        "all.p50": 37800, "read.p50": 43500, "write.p50": 20100,
        "all.p95": 176300, "read.p95": 183900, "write.p95": 139600,
        "all.p99": 252300, "read.p99": 257800, "write.p99": 224100,
        "all.p999": 370400, "read.p999": 394800, "write.p999": 355500,
        "all.max": 509300, "read.max": 509300, "write.max": 401100,
    }  # fmt: skip
    assert (reading.seconds, reading.operations) == (15.1, 8688)
    assert reading.facts == {"threads": "32", "consistency": "QUORUM"}
    own = {name: value for name, value in reading.told.items() if "property" not in name}
    assert own == {"tool": "cassandra-stress", "load": "mixed"}
    assert set(reading.counts) == {"read", "write"}


def test_rows_of_all_operations_become_the_series() -> None:
    intervals = read(MIXED).intervals
    assert len(intervals) == 15, "the rest after the last full second is no interval"
    assert intervals[0] == PrintedInterval(1.0, 155.0, 483100.0)
    assert intervals[-1] == PrintedInterval(15.0, 721.0, 210800.0)


def test_thousands_have_commas_in_4_x() -> None:
    text = (DATA / "stress-4.0-alpha2-write-j17-hdr.txt").read_text(encoding="utf-8")
    reading = read(text)
    assert reading.values["throughput"] == 1770
    assert reading.values["write.p99"] == 89100
    assert reading.operations == 50_000
    larger = text.replace("452.2 ms [WRITE: 452.2 ms]", "1452.2 ms [WRITE: 1,452.2 ms]")
    large = read(larger)
    assert large.values["write.max"] == large.values["all.max"] == 1_452_200


def test_2_1_prints_no_units() -> None:
    reading = read(OLD)
    assert reading.values["write.p99"] == 4900
    assert reading.values["errors"] == 3
    assert reading.errors_by_kind == {"write failed": 3}
    assert reading.intervals[1] == PrintedInterval(2.0, 2000.0, 5900.0)


def test_coarse_latencies_are_said_to_be_so() -> None:
    assert "hdrfile" in read(OLD.replace("1.2", "0.4")).notes[0]
    assert read(OLD).notes == []


def test_a_ladder_of_threads_gives_a_trial_for_each() -> None:
    first = OLD.replace("END\n", "").replace("50 threads", "4 threads")
    readings = cassandra_stress.read((first + OLD).encode())
    assert [reading.facts["threads"] for reading in readings] == ["4", "50"]
    assert [len(reading.intervals) for reading in readings] == [2, 2]
    assert readings[0].part == "with 4 threads"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (MIXED.partition("Results:")[0], "no Results: block"),
        (MIXED.partition("Latency 99th")[0], "no END"),
        (MIXED.replace("END", "FAILURE"), "FAILURE"),
        (MIXED.replace("Latency mean              :   54.8", "Latency mean              : 1.054,8"),
         "comma"),
        (MIXED.replace("Latency mean              :   54.8 ms", "Latency mean              : NaN"),
         "NaN|nan"),
        (MIXED.replace("  576 op/s", "  0 op/s"), "nothing was measured"),
        (MIXED.replace("00:00:15", "15 s"), "no time"),
        ((DATA / "ycsb-cassandra-a-t.txt").read_text(encoding="utf-8"), "use tare import ycsb"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(text: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        read(text)
