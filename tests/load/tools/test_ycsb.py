"""YCSB gets the study's load as its own properties, and its files are read."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from tare.errors import LoadError
from tare.load.tools import ycsb

from .conftest import Specify


def properties(command: list[str]) -> dict[str, str]:
    pairs = [b for a, b in pairwise(command) if a == "-p"]
    return dict(pair.split("=", 1) for pair in pairs)


def test_the_measured_run_lasts_as_long_as_the_study_says(specify: Specify, tmp_path: Path) -> None:
    call = ycsb.call(specify(workload="ycsb-b", distribution="uniform"), ["java"], tmp_path)
    told = properties(call.command)
    assert call.command[:6] == ["java", "-t", "-db", ycsb.BINDING, "-s", "-threads"]
    assert told["maxexecutiontime"] == "5"
    assert (told["readproportion"], told["updateproportion"]) == ("0.95", "0.05")
    assert (told["hosts"], told["port"]) == ("127.0.0.1,127.0.0.2", "9042")
    assert (told["requestdistribution"], told["recordcount"]) == ("uniform", "1000")
    assert told["cassandra.readconsistencylevel"] == "ONE"
    assert told["measurement.interval"] == "op"


def test_it_is_run_once_before_to_warm_up(specify: Specify, tmp_path: Path) -> None:
    call = ycsb.call(specify(), ["java"], tmp_path)
    assert call.warm is not None
    told = properties(call.warm)
    assert told["maxexecutiontime"] == "2"
    assert "hdrhistogram.fileoutput" not in told
    assert ycsb.call(specify(warmup=0), ["java"], tmp_path).warm is None


def test_a_rate_is_its_target_and_both_times_are_kept(specify: Specify, tmp_path: Path) -> None:
    command = ycsb.call(specify(rate=500.0), ["java"], tmp_path).command
    assert command[command.index("-target") + 1] == "500"
    assert properties(command)["measurement.interval"] == "both"


@pytest.mark.parametrize(("workload", "count"), [("ycsb-c", 2**31 - 1), ("ycsb-d", 250_000)])
def test_the_time_ends_it_and_not_the_number_of_operations(
    specify: Specify, tmp_path: Path, workload: str, count: int
) -> None:
    told = properties(ycsb.call(specify(workload=workload), ["java"], tmp_path).command)
    assert told["operationcount"] == str(count)


def test_nodes_behind_several_ports_cannot_be_told(specify: Specify, tmp_path: Path) -> None:
    several: dict[str, Any] = specify() | {"targets": ["127.0.0.1:9042", "127.0.0.1:9043"]}
    with pytest.raises(LoadError, match="several ports"):
        ycsb.call(several, ["java"], tmp_path)


TEXT = """[OVERALL], RunTime(ms), 4000
[OVERALL], Throughput(ops/sec), 1.0
[READ], Operations, 3
[READ], AverageLatency(us), 200.0
[READ], Return=OK, 3
[UPDATE], Operations, 1
[UPDATE], AverageLatency(us), 200.0
[UPDATE], Return=OK, 1
"""


def test_its_histogram_files_become_lines_per_operation_and_time(tmp_path: Path) -> None:
    for name in ("READ", "Intended-READ", "UPDATE", "CLEANUP"):
        histogram = HdrHistogram(1, 10_000_000, 3)
        histogram.record_value(200, 3 if "READ" in name else 1)
        encoded = histogram.encode().decode()
        text = f"#[StartTime: 1.0 (seconds since epoch), x]\n0.0,1.0,0.2,{encoded}\n"
        (tmp_path / f"{name}.hdr").write_text(text)
    (tmp_path / "SCAN.hdr").write_text("#[StartTime: 1.0 (seconds since epoch), x]\n")
    outcome = ycsb.outcome(TEXT, tmp_path)
    assert outcome.reading.operations == 4
    assert {(one.operation, one.kind, len(one.lines)) for one in outcome.histograms} == {
        ("READ", "st", 1), ("READ", "rt", 1), ("UPDATE", "st", 1),
    }  # fmt: skip


def test_the_lines_that_it_prints_tell_when_it_measures() -> None:
    sample = (
        "2026-11-21 09:46:13:116 10 sec: 6770 operations; 677.5 current ops/sec; est completion"
    )
    found = ycsb.RATE.search(sample)
    assert found is not None
    assert found[1] == "677.5"
    assert ycsb.BEGINS.search("DBWrapper: report latency for each error is false and specific")
    assert ycsb.ENDS.search("Stop requested for workload. Now Joining!")
