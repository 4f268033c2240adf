"""For any file, a reader gives a sensible result or a reason for refusing.

The tests use a corpus of small damaged files (corpus/, with their reasons below) and a fuzzer that
mutates real output.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tare.imports.file_content import FileReading, UnreadableError
from tare.imports.tools import TOOLS, Options, reader_of
from tests.imports.conftest import DATA
from tests.imports.test_csv_tables import INTERVALS, TRIALS
from tests.imports.test_series import DSTAT, IOSTAT, SAR
from tests.mutated import LONG, examples, mutations

CORPUS = Path(__file__).parent / "corpus"
REASONS = {
    "cut-overall.ycsb": "no operation follows",
    "cut-update.ycsb": "cut off",
    "huge.ycsb": "absurdly large",
    "nan.ycsb": "is NaN",
    "two-runs.ycsb": "more than one run",
    "windows-1252.ycsb": "not a text in UTF-8",
    "swapped.ycsb": "use tare import cassandra-stress",
    "html.ycsb": "not YCSB output",
    "cut.cassandra-stress": "no END",
    "failed.cassandra-stress": "FAILURE",
    "german.cassandra-stress": "comma",
    "torn.latte": "cut off or damaged JSON",
    "deep.latte": "not JSON|damaged",
    "cut.hlog": "cut off or damaged",
    "cut.sar": "cut off or damaged",
    "restarted.sar": "",
    "zero.iostat": "no series",
    "torn.csv": "cut off",
    "binary.csv": "not a text",
    "empty.dstat": "empty",
}
OPTIONS = Options(unit="ns", cpus=2, interval=1.0)
SEEDS: dict[str, list[bytes]] = {
    "ycsb": [
        (DATA / name).read_bytes()
        for name in ("ycsb-cassandra-a-t.txt", "go-ycsb-ferretdb-a-run.txt")
    ],
    "cassandra-stress": [(DATA / "stress-3.11.2-mixed-j17.txt").read_bytes()[-5000:]],
    "latte": [(DATA / "latte-mixed-report.json").read_bytes()],
    "hlog": [b"\n".join((DATA / "stress-3.11.2-mixed.hdr").read_bytes().splitlines()[:8])],
    "sar": [(DATA / name).read_bytes() for name in ("sar.txt", "sadf.json")],
    "iostat": [(DATA / name).read_bytes() for name in ("iostat.txt", "iostat.json")],
    "dstat": [DSTAT.encode()],
    "csv": [TRIALS.encode(), INTERVALS.encode()],
}
WHOLE = SEEDS | {
    "cassandra-stress": [(DATA / "stress-3.11.2-mixed-j17.txt").read_bytes()],
    "ycsb": [(DATA / "ycsb-cassandra-a-t.stderr.txt").read_bytes()],
    "sar": [SAR.encode()],
    "iostat": [IOSTAT.encode()],
}


def sensible(readings: list[FileReading]) -> None:
    """Check that all numbers of the results are finite and not negative."""
    assert readings
    for reading in readings:
        assert all(math.isfinite(v) and v >= 0 for v in reading.values.values()), reading.values
        assert reading.seconds is None or 0 <= reading.seconds < math.inf
        assert reading.operations is None or reading.operations >= 0
        assert all(math.isfinite(i.t) and math.isfinite(i.ops_per_s) for i in reading.intervals)
        assert all(math.isfinite(s.t) and 0 <= s.value < math.inf for s in reading.samples)
        assert reading.values or reading.intervals or reading.samples


@pytest.mark.parametrize("name", REASONS)
def test_the_corpus_is_named_with_its_reason(name: str) -> None:
    read = reader_of(name.rpartition(".")[2], OPTIONS)
    data = (CORPUS / name).read_bytes()
    if not REASONS[name]:
        sensible(read(data, {}))
        return
    with pytest.raises(UnreadableError, match=REASONS[name]):
        read(data, {})


def test_every_file_of_the_corpus_has_its_reason() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(REASONS)


DIGITS = b"9" * 5000
"""More digits than Python converts to a number."""


@pytest.mark.parametrize(
    ("tool", "old", "new"),
    [
        ("sar", b"(2 CPU)", b"(" + DIGITS + b" CPU)"),
        ("iostat", b"(2 CPU)", b"(" + DIGITS + b" CPU)"),
        ("sar", b"/26", b"/\xc2\xb2"),
        ("sar", b"/26", b"/" + DIGITS),
        ("cassandra-stress", b"with 32 threads", b"with " + DIGITS + b" threads"),
        ("ycsb", b"[READ: Count=", b"[READ: Count=" + DIGITS),
        ("ycsb", b"-threads ", b"-threads " + DIGITS),
    ],
)
def test_a_count_too_long_to_be_one_is_passed_over_or_refused(
    tool: str, old: bytes, new: bytes
) -> None:
    data = next(seed for seed in WHOLE[tool] if old in seed)
    try:
        sensible(reader_of(tool, OPTIONS)(data.replace(old, new), {}))
    except UnreadableError as refusal:
        assert str(refusal)


@pytest.mark.parametrize("tool", ["sar", "iostat"])
@pytest.mark.parametrize("count", [b"Infinity", b"1e999", b"NaN", b"-3", b"null"])
def test_a_number_of_cpus_that_is_none_is_refused(tool: str, count: bytes) -> None:
    name = {"sar": "sadf.json", "iostat": "iostat.json"}[tool]
    data = (DATA / name).read_bytes()
    damaged = re.sub(rb'("number-of-cpus": ?)\d+', rb"\g<1>" + count, data)
    assert damaged != data
    with pytest.raises(UnreadableError):
        reader_of(tool, Options())(damaged, {})


@pytest.mark.parametrize("tool", TOOLS)
@settings(
    max_examples=examples(40),
    derandomize=not LONG,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_a_mutated_file_gives_a_result_or_a_reason(tool: str, data: st.DataObject) -> None:
    mutated = data.draw(st.sampled_from(SEEDS[tool]).flatmap(mutations))
    try:
        readings = reader_of(tool, OPTIONS)(mutated, {})
    except UnreadableError as error:
        assert str(error)
        assert len(str(error)) < 2000
    else:
        sensible(readings)


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=examples(25), derandomize=not LONG)
@given(data=st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
@example(data=b"\xef\xbb\xbf")
@example(data=b"\xff\xfe")
@example(data=b"\n,\n,\n")
@example(data=b"[]")
@example(data=b'{"sysstat": {"hosts": []}}')
def test_any_bytes_give_a_reason(tool: str, data: bytes) -> None:
    try:
        sensible(reader_of(tool, OPTIONS)(data, {}))
    except UnreadableError as error:
        assert str(error)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("other", [tool for tool in TOOLS if tool != "csv"])
def test_another_tools_file_is_never_taken(tool: str, other: str) -> None:
    if tool == other:
        return
    for data in SEEDS[other]:
        with pytest.raises(UnreadableError):
            reader_of(tool, OPTIONS)(data, {})


@pytest.mark.parametrize("tool", SEEDS)
def test_the_seeds_themselves_are_read(tool: str) -> None:
    for data in SEEDS[tool]:
        if tool != "cassandra-stress":
            sensible(reader_of(tool, OPTIONS)(data, {}))
