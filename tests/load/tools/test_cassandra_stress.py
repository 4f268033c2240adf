"""cassandra-stress gets the study's load as its own options, and its log is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from tare.errors import LoadError
from tare.load.tools import cassandra_stress as stress

from .conftest import Specify


def test_a_closed_loop_of_reads(specify: Specify, tmp_path: Path) -> None:
    call = stress.call(specify(workload="stress-read", distribution="uniform"), ["java"], tmp_path)
    assert " ".join(call.command) == (
        "java read duration=5s cl=ONE -rate threads=8 -pop dist=UNIFORM(1..1000) "
        "-col n=FIXED(5) size=FIXED(34) -mode native cql3 -node 127.0.0.1,127.0.0.2 "
        f"-port native=9042 -errors ignore -log interval=1s hdrfile={tmp_path}/stress.hdr"
    )


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        ("stress-write", "write"),
        ("stress-mixed", "mixed ratio(read=1,write=1)"),
        ("stress-counter-write", "counter_write"),
        ("stress-counter-read", "counter_read"),
    ],
)
def test_each_workload_is_a_command_of_its_own(
    specify: Specify, tmp_path: Path, workload: str, words: str
) -> None:
    command = stress.call(specify(workload=workload), ["java"], tmp_path).command
    assert " ".join(command).startswith(f"java {words} duration=5s")


def test_a_mix_is_its_ratio(specify: Specify, tmp_path: Path) -> None:
    asked = specify(workload="stress-mixed", mix={"write": 1, "read": 3})
    command = stress.call(asked, ["java"], tmp_path).command
    assert command[1:3] == ["mixed", "ratio(read=3,write=1)"]


@pytest.mark.parametrize(
    ("distribution", "words"),
    [("sequential", "seq=1..1000"), ("gaussian", "dist=GAUSSIAN(1..1000)")],
)
def test_rows_are_gone_through_or_drawn(
    specify: Specify, tmp_path: Path, distribution: str, words: str
) -> None:
    asked = specify(workload="stress-read", distribution=distribution)
    assert f"-pop {words} " in " ".join(stress.call(asked, ["java"], tmp_path).command)


def test_a_rate_is_fixed_and_no_warm_up_is_said(specify: Specify, tmp_path: Path) -> None:
    asked = specify(workload="stress-read", rate=500.0, warmup=0)
    command = stress.call(asked, ["java"], tmp_path).command
    assert "fixed=500/s" in command
    assert "no-warmup" in command


def test_its_log_becomes_lines_per_operation_and_time(tmp_path: Path) -> None:
    histogram = HdrHistogram(1, 10_000_000_000, 3)
    histogram.record_value(200_000, 4)
    line = f"0.0,1.0,0.2,{histogram.encode().decode()}"
    tags = ("READ-st", "READ-rt", "READ-wt")
    body = "".join(f"Tag={tag},{line}\n" for tag in tags)
    (tmp_path / "stress.hdr").write_text(f"#Logging op latencies for Cassandra Stress\n{body}")
    found = stress.outcome(RESULTS, tmp_path)
    assert found.reading.values["throughput"] == 4.0
    kinds = {(one.operation, one.kind) for one in found.histograms}
    assert kinds == {("READ", "st"), ("READ", "rt")}


RESULTS = """\
type, total ops, op/s, pk/s, row/s, mean, med, .95, .99, .999, max, time, stderr, errors
total, 4, 4, 4, 4, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 1.0, 0.0, 0
Results:
Op rate                   :        4 op/s  [READ: 4 op/s]
Latency mean              :    0.2 ms [READ: 0.2 ms]
Latency median            :    0.2 ms [READ: 0.2 ms]
Latency 99th percentile   :    0.2 ms [READ: 0.2 ms]
Total errors              :          0 [READ: 0]
Total operation time      : 00:00:01

END
"""


def test_without_a_log_there_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="left no result"):
        stress.outcome(RESULTS, tmp_path)


def test_the_lines_that_it_prints_tell_when_it_measures() -> None:
    assert stress.BEGINS.search("Running READ with 16 threads 10 seconds")
    assert not stress.BEGINS.search("Warming up READ with 50000 iterations...")
    assert stress.ENDS.search("Results:")
    found = stress.RATE.search("total,          1234,    1180,    1180,    1180,     8.0")
    assert found is not None
    assert found[1] == "1180"
