"""Histogram logs of other tools, with their units, encodings and tags."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hdrh.histogram import HdrHistogram

from tare.analysis.analyse import analyse
from tare.imports import histograms
from tare.imports.file_content import FileReading, UnreadableError
from tare.imports.tools import Options
from tests.imports.conftest import DATA
from tests.synthetic_run import write_run

if TYPE_CHECKING:
    from tests.imports.conftest import Import

MIXED = (DATA / "stress-3.11.2-mixed.hdr").read_bytes()


def read(data: bytes, tick: int | None = None, operation: str | None = None) -> FileReading:
    (reading,) = histograms.read(data, tick, operation)
    return reading


def encoded(values: dict[int, int]) -> str:
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    for value, count in values.items():
        histogram.record_value(value, count)
    text = histogram.encode()
    return text.decode() if isinstance(text, bytes) else str(text)


def v1(counts: dict[int, int]) -> str:
    """The V1 encoding in 8-byte words, for small values, which equal their index."""
    words = [counts.get(value, 0) for value in range(max(counts) + 1)]
    body = struct.pack(f">{len(words)}q", *words)
    head = struct.pack(">iiiiqqd", 0x1C849301 | 0x80, len(body), 0, 3, 1, 3_600_000_000, 1.0)
    packed = zlib.compress(head + body)
    return base64.b64encode(struct.pack(">ii", 0x1C849302 | 0x80, len(packed)) + packed).decode()


def log(*lines: str) -> bytes:
    return ("#[Histogram log format version 1.2]\n" + "\n".join(lines) + "\n").encode()


def test_cassandra_stress_logs_nanoseconds_and_says_who_it_is() -> None:
    reading = read(MIXED)
    assert reading.tick_ns == 1
    assert reading.operations == 8688
    assert reading.values["throughput"] == pytest.approx(8688 / 15.094)
    # the tool's own summary has 54.8, 60.1 and 38.6 ms
    assert reading.values["all.mean"] == pytest.approx(54_800, rel=1e-3)
    assert reading.values["read.mean"] == pytest.approx(60_100, rel=1e-3)
    assert reading.values["write.mean"] == pytest.approx(38_600, rel=1e-3)
    assert reading.intervals[0].ops_per_s == 155
    assert reading.intervals[0].p99_us == pytest.approx(483_100, rel=1e-3)


def test_waiting_time_is_left_out_and_response_time_is_not_service_time() -> None:
    reading = read((DATA / "stress-3.11.2-read-fixed.hdr").read_bytes())
    assert reading.tags == {"READ-st", "READ-rt"}
    assert reading.operations == 5012
    assert reading.values["read.mean"] == pytest.approx(155_900, rel=1e-3)


def test_latte_counts_every_request_once() -> None:
    reading = read((DATA / "latte-mixed.hdr.log").read_bytes())
    assert reading.tags == {"ALL-rt"}
    assert reading.operations == 1230 + 893


def test_a_log_that_does_not_say_its_unit_is_refused_until_it_is_given() -> None:
    data = log(f"0.000,10.000,0.5,{encoded({500: 100})}")
    with pytest.raises(UnreadableError, match="give --unit"):
        read(data)
    reading = read(data, 1000, "read")
    assert reading.values["read.mean"] == pytest.approx(500.5)
    assert reading.values["throughput"] == 10.0
    assert reading.tags == {"READ-rt"}


def test_the_older_encoding_holds_the_same() -> None:
    counts = {3: 5, 500: 7, 1999: 1}
    old = read(log(f"0.000,1.000,0.1,{v1(counts)}"), 1000)
    new = read(log(f"0.000,1.000,0.1,{encoded(counts)}"), 1000)
    assert old.values == new.values
    assert old.operations == 13


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (MIXED[:3000], "cut off or damaged"),
        (log("0.000,1.000,0.1,HISTFAAAAAAA"), "cannot be read"),
        (log(f"nan,1.000,0.1,{encoded({1: 1})}"), "no sound interval"),
        (log(f"0.000,0.000,0.1,{encoded({1: 1})}"), "no sound interval"),
        (log(f"0.000,1.000,0.1,{encoded({})}"), "empty"),
        (log("nothing"), "no histogram"),
        ((DATA / "stress-3.11.2-mixed-j17.txt").read_bytes(), "use tare import cassandra-stress"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        read(data, 1)


def test_a_bomb_in_a_histogram_is_not_unpacked() -> None:
    packed = zlib.compress(bytes(40_000_000), 9)
    for cookie in (0x1C849302 | 0x80, 0x1C849304 | 0x10):
        text = base64.b64encode(struct.pack(">ii", cookie, len(packed)) + packed).decode()
        with pytest.raises(UnreadableError):
            read(log(f"0.000,1.000,0.1,{text}"), 1)


def test_percentiles_of_the_report_come_from_the_histograms(
    import_: Import, tmp_path: Path, run: Path
) -> None:
    (tmp_path / "docker_many_1.txt").write_bytes(MIXED)
    import_("hlog", tmp_path / "docker_many_1.txt")
    analysis = analyse(run)
    (trial,) = analysis.trials
    assert trial.values["all.p99"] == pytest.approx(252_300, rel=1e-3)
    assert trial.values["write.p95"] == pytest.approx(139_600, rel=1e-3)
    assert {d.operation for d in analysis.distributions} == {"READ", "WRITE", "ALL"}


def test_a_log_in_microseconds_is_analysed_in_microseconds(
    import_: Import, tmp_path: Path, run: Path
) -> None:
    (tmp_path / "docker_many_1.txt").write_bytes(log(f"0.000,1.000,0.1,{encoded({1000: 2000})}"))
    import_("hlog", tmp_path / "docker_many_1.txt", options=Options(unit="us"))
    (trial,) = analyse(run).trials
    assert trial.values["all.p99"] == pytest.approx(1000, rel=1e-3)


def test_tares_own_logs_come_back_the_same(import_: Import, tmp_path: Path, run: Path) -> None:
    own = tmp_path / "own"
    write_run(own, deployments=1, blocks=1, measure_s=3)
    original = next(t for t in analyse(own).trials if t.condition == "native")
    log = own / "trials" / original.trial / "latency-c1.hlog"
    (tmp_path / "native_few_1.txt").write_bytes(log.read_bytes())
    import_("hlog", tmp_path / "native_few_1.txt", options=Options(unit="ns"))
    (trial,) = analyse(run).trials
    same = [name for name in original.values if name.rpartition(".")[2] in ("p50", "p99", "max")]
    assert same
    assert {n: trial.values[n] for n in same} == {n: original.values[n] for n in same}


def test_a_log_beside_a_result_makes_it_exact(import_: Import, tmp_path: Path, run: Path) -> None:
    (tmp_path / "docker_many_1.txt").write_bytes(
        (DATA / "stress-3.11.2-mixed-j17.txt").read_bytes()
    )
    (tmp_path / "docker_many_1.hdr").write_bytes(MIXED)
    import_("cassandra-stress", tmp_path / "docker_many_1.txt")
    template = "{platform}_{threads}_{repetition}.hdr"
    outcome = import_("hlog", tmp_path / "docker_many_1.hdr", template=template)
    assert outcome.trials == ["D1-B01-docker.many"]
    (trial,) = analyse(run).trials
    assert trial.values["throughput"] == 576, "as the tool printed it"
    assert trial.values["all.p99"] == pytest.approx(252_300, rel=1e-3)
    assert trial.values["all.p99"] != 252_300
    other = import_(
        "hlog", tmp_path / "docker_many_1.hdr", template=template, options=Options(unit="us")
    )
    assert "already" in other.skipped[0].reason
    again = import_("hlog", tmp_path / "docker_many_1.hdr", template=template)
    assert "already" in again.skipped[0].reason
