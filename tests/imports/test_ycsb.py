"""Printed results of YCSB and go-ycsb are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.imports import ycsb
from tare.imports.file_content import FileReading, PrintedInterval, UnreadableError
from tests.imports.conftest import DATA

SUMMARY = """\
[OVERALL], RunTime(ms), 10000
[OVERALL], Throughput(ops/sec), 200.0
[READ], Operations, 1000
[READ], AverageLatency(us), 500.5
[READ], MaxLatency(us), 9000
[READ], 95thPercentileLatency(us), 800
[READ], 99thPercentileLatency(us), 900
[READ], Return=OK, 1000
[UPDATE], Operations, 1000
[UPDATE], AverageLatency(us), 700.5
[UPDATE], MaxLatency(us), 8000
[UPDATE], 95thPercentileLatency(us), 1800
[UPDATE], 99thPercentileLatency(us), 1900
[UPDATE], Return=OK, 1000
"""


def read(text: str) -> FileReading:
    (reading,) = ycsb.read(text.encode())
    return reading


def golden(name: str) -> FileReading:
    return read((DATA / name).read_text(encoding="utf-8"))


def test_a_real_result() -> None:
    reading = golden("ycsb-cassandra-a-t.txt")
    assert reading.values == {
        "throughput": 980.3441007793735,
        "read.mean": 16611.612669053302, "read.p50": 9615, "read.p95": 57247, "read.p99": 111871,
        "read.p999": 219007, "read.max": 259071,
        "update.mean": 10801.160498793242, "update.p50": 4327, "update.p95": 45279,
        "update.p99": 95359, "update.p999": 170367, "update.max": 210559,
        "all.mean": pytest.approx((10056 * 16611.612669053302 + 9944 * 10801.160498793242) / 20000),
        "all.max": 259071,
        "errors": 0,
    }  # fmt: skip
    assert (reading.seconds, reading.operations, reading.started) == (20.401, 20_000, None)


def test_output_with_the_command_line_tells_the_threads() -> None:
    reading = golden("ycsb-ferretdb-a-t.txt")
    assert reading.facts == {"threads": "4"}
    assert reading.values["update.p99"] == 814591


def test_one_kind_of_operation_is_all_of_them() -> None:
    reading = golden("ycsb-cassandra-a-load.txt")
    assert reading.values["all.p99"] == reading.values["insert.p99"] == 108927


def test_status_lines_become_a_series() -> None:
    reading = golden("ycsb-cassandra-a-t.stderr.txt")
    assert not reading.summary
    assert reading.intervals == [
        PrintedInterval(9.907, 677.0, None),
        PrintedInterval(19.907, 1323.0, None),
    ]
    assert reading.started == 1795254363.209  # 2026-11-21 09:46:03.209, read as UTC
    assert reading.facts == {"threads": "16"}


def test_a_status_line_of_one_operation_has_its_p99() -> None:
    lines = (
        "2018-05-02 14:55:06:000 0 sec: 0 operations; est completion in 0 second\n"
        "2018-05-02 14:55:16:000 10 sec: 1000 operations; 100.5 current ops/sec; "
        "[READ: Count=1000, Max=71679, Min=93, Avg=605.51, 90=989, 99=3541, 99.9=45791] "
        "[CLEANUP: Count=1, Max=2, Min=2, Avg=2, 90=2, 99=2]\n"
    )
    assert read(lines).intervals == [PrintedInterval(10.0, 100.5, 3541.0)]


def test_failed_operations_are_counted_by_kind_and_are_in_no_latency() -> None:
    text = SUMMARY.replace(
        "[READ], Return=OK, 1000\n",
        "[READ], Return=OK, 900\n[READ], Return=NOT_FOUND, 100\n"
        "[READ-FAILED], Operations, 100\n[READ-FAILED], AverageLatency(us), 99999\n",
    ).replace("[READ], Operations, 1000", "[READ], Operations, 900")
    reading = read(text)
    assert reading.errors_by_kind == {"NOT_FOUND": 100}
    assert reading.values["errors"] == 100
    assert reading.operations == 1900
    assert reading.values["read.mean"] == 500.5


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("99thPercentileLatency(us), 900", "99thPercentileLatency(ms), 2", 2000),
        ("99thPercentileLatency(us), 900", "99thPercentileLatency(ns), 900000", 900),
        ("99thPercentileLatency(us), 900", "99.0PercentileLatency(us), 900", None),
    ],
)
def test_units_of_old_versions(old: str, new: str, value: float | None) -> None:
    text = SUMMARY.replace(old, new, 1)
    if value is None:  # the operations have different percentiles: the file is cut
        with pytest.raises(UnreadableError, match="cut off"):
            read(text)
    else:
        assert read(text).values["read.p99"] == value


def test_intended_latency_is_the_response_time() -> None:
    intended = SUMMARY + "".join(
        line.replace("[", "[Intended-", 1).replace("500.5", "5005") + "\n"
        for line in SUMMARY.splitlines()
        if line.startswith("[READ]")
    )
    reading = read(intended)
    assert reading.values["read.mean"] == 5005
    assert reading.values["service.read.mean"] == 500.5
    assert reading.values["update.mean"] == 700.5
    assert "intended start" in reading.notes[0]


def test_read_modify_write_counts_its_parts_once() -> None:
    rmw = "".join(
        line.replace("UPDATE", "READ-MODIFY-WRITE") + "\n"
        for line in SUMMARY.splitlines()
        if "UPDATE" in line
    )
    reading = read(SUMMARY + rmw)
    assert reading.values["rmw.mean"] == 700.5
    assert "all.mean" not in reading.values
    assert reading.operations == 2000


def test_a_read_modify_write_has_no_return_codes_of_its_own() -> None:
    rmw = "".join(
        line.replace("UPDATE", "READ-MODIFY-WRITE") + "\n"
        for line in SUMMARY.splitlines()
        if "UPDATE" in line and "Return" not in line
    )
    assert read(SUMMARY + rmw).values["rmw.mean"] == 700.5


def test_failures_under_their_status_are_no_operations() -> None:
    status = "[READ], Return=NOT_FOUND, 100\n"
    failures = "[READ-NOT_FOUND], Operations, 100\n[READ-NOT_FOUND], AverageLatency(us), 9.9\n"
    reading = read(SUMMARY + status + failures)
    assert reading.errors_by_kind == {"NOT_FOUND": 100}
    assert reading.operations == 2000


def test_a_check_of_rows_is_no_operation_but_tells_wrong_rows() -> None:
    verify = "".join(
        line.replace("READ", "VERIFY") + "\n"
        for line in SUMMARY.splitlines()
        if line.startswith("[READ]")
    )
    reading = read(SUMMARY + verify + "[VERIFY], Return=UNEXPECTED_STATE, 3\n")
    assert reading.errors_by_kind == {"UNEXPECTED_STATE": 3}
    assert "verify" not in reading.counts
    assert reading.operations == 2000


def test_an_operation_that_never_ran_is_left_out() -> None:
    none = "[SCAN], Operations, 0\n[SCAN], AverageLatency(us), NaN\n[SCAN], MaxLatency(us), 0\n"
    assert not any(name.startswith("scan") for name in read(SUMMARY + none).values)


@given(
    mean=st.floats(1, 1e7), p99=st.integers(1, 10**8), throughput=st.floats(100, 1e6),
    codes=st.dictionaries(st.sampled_from(["NOT_FOUND", "ERROR", "TIMEOUT"]), st.integers(1, 99)),
)  # fmt: skip
def test_what_is_printed_is_what_is_read(
    mean: float, p99: int, throughput: float, codes: dict[str, int]
) -> None:
    failed = sum(codes.values())
    runtime = (5000 + failed) / throughput * 1000
    text = f"""\
[OVERALL], RunTime(ms), {runtime}
[OVERALL], Throughput(ops/sec), {throughput}
[SCAN], Operations, 5000
[SCAN], AverageLatency(us), {mean}
[SCAN], MaxLatency(us), {p99 + 1}
[SCAN], 99thPercentileLatency(us), {p99}
[SCAN], Return=OK, 5000
""" + "".join(f"[SCAN], Return={code}, {n}\n" for code, n in codes.items())
    reading = read(text)
    assert reading.values == {
        "throughput": throughput, "errors": failed,
        "scan.mean": mean, "scan.p99": p99, "scan.max": p99 + 1,
        "all.mean": mean, "all.p99": p99, "all.max": p99 + 1,
    }  # fmt: skip
    assert reading.errors_by_kind == codes
    assert (reading.seconds, reading.operations) == (runtime / 1000, 5000)


@pytest.mark.parametrize("cut", range(0, len(SUMMARY) - 30, 7))
def test_a_cut_file_is_never_taken_for_a_result(cut: int) -> None:
    with pytest.raises(UnreadableError):
        read(SUMMARY[:cut])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SUMMARY + SUMMARY, "more than one run"),
        (SUMMARY.replace("500.5", "NaN"), "is NaN"),
        (SUMMARY.replace("500.5", "-1"), "is -1"),
        (SUMMARY.replace("500.5", "1e300"), "absurdly large"),
        (SUMMARY.replace("500.5", "500,5"), "cut off"),
        (SUMMARY.replace("200.0", "0.0"), "nothing was measured"),
        (SUMMARY.replace("200.0", "300.0"), "add up to 2,000 of the 3,000"),
        ("Latency mean : 3 ms\nResults:\nop rate   : 3\n", "use tare import cassandra-stress"),
        ("", "empty"),
        ("[OVERALL]\x00", "zero bytes"),
    ],
)
def test_what_is_wrong_is_said(text: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        read(text)


def test_a_binary_file_is_no_text() -> None:
    with pytest.raises(UnreadableError, match="not a text"):
        ycsb.read(b"\x89PNG\r\n\x1a\n\xff\xfe\x00")


def test_a_utf_16_file_as_windows_writes_it_is_read() -> None:
    (reading,) = ycsb.read(SUMMARY.encode("utf-16"))
    assert reading.values["read.mean"] == 500.5


def test_go_ycsb_has_a_format_of_its_own() -> None:
    reading = golden("go-ycsb-ferretdb-a-run.txt")
    assert reading.values["throughput"] == 93.9
    assert reading.values["all.p99"] == 483327
    assert reading.values["read.mean"] == 10344
    assert (reading.seconds, reading.operations) == (42.6, 4000)
    assert reading.intervals[0] == PrintedInterval(10.0, pytest.approx(96.2))
    assert reading.intervals[1] == PrintedInterval(20.0, pytest.approx((1934 - 962) / 10))
    assert reading.facts == {"threads": "4"}


def test_go_ycsb_that_did_not_finish_is_cut_off() -> None:
    text = (DATA / "go-ycsb-cassandra-a-run.txt").read_text(encoding="utf-8")
    with pytest.raises(UnreadableError, match="without `Run finished`"):
        read(text.partition("Run finished")[0])
