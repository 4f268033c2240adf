"""The compiled reader of histogram logs gives the same results as the line-by-line reader."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tare.records import hlog
from tare.records.hlog import HistogramLog, read_hlog

if TYPE_CHECKING:
    from pathlib import Path

quick_hlog = pytest.importorskip(
    "tare.records.quick_hlog", reason="the reader is not built; `make test` builds and runs it"
)
HIGHEST_NS = 60_000_000_000
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

values = st.lists(st.integers(1, HIGHEST_NS), max_size=30)
lines = st.lists(st.tuples(values, values), max_size=8)


def encoded(own: list[int], highest: int = HIGHEST_NS, figures: int = 3, lowest: int = 1) -> str:
    histogram = HdrHistogram(lowest, highest, figures)
    for value in own:
        histogram.record_value(value)
    return str(histogram.encode().decode())


def packed(payload: bytes, cookie: int = 0x1C849314) -> str:
    """A payload in its wrapper, as in a log."""
    stream = zlib.compress(payload)
    return base64.b64encode(struct.pack(">II", cookie, len(stream)) + stream).decode()


def payload(counts: bytes, highest: int = HIGHEST_NS, offset: int = 0) -> bytes:
    return struct.pack(">IIIIQQd", 0x1C849313, len(counts), offset, 3, 1, highest, 1.0) + counts


def write(path: Path, *own: str) -> Path:
    path.write_text("\n".join(["#[Histogram log format version 1.3]", *own]) + "\n")
    return path


def quickly(path: Path) -> object:
    return quick_hlog.read(path, 99.0)


def carefully(path: Path, monkeypatch: pytest.MonkeyPatch) -> HistogramLog:
    with monkeypatch.context() as patch:
        patch.setattr(hlog, "quick_hlog", None)
        return read_hlog(path)


def listed(log: HistogramLog) -> object:
    def bins(own: hlog.Latencies) -> object:
        return own.first, own.counts.tolist(), own.half if own.counts.size else None

    totals = {tag: bins(own) for tag, own in log.totals.items()}
    rows = [(r.start_s, r.length_s, r.p99_us, bins(r.latencies)) for r in log.responses]
    return totals, rows, log.start_s, log.damage


@SHARED
@given(lines, st.booleans(), st.integers(2, 4))
def test_a_log_is_the_same_read_quickly_and_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: list[tuple[list[int], list[int]]],
    closed: bool, figures: int,
) -> None:  # fmt: skip
    """Service and response times have equal lines in a closed loop only."""
    path = write(
        tmp_path / "a.hlog",
        *(
            f"Tag={('READ', 'UPDATE')[place % 2]}-{kind},{place // 2}.5,1.000,0.1,"
            f"{encoded(times, figures=figures)}"
            for place, (service, response) in enumerate(own)
            for kind, times in (("st", service), ("rt", service if closed else response))
        ),
    )
    assert listed(read_hlog(path)) == listed(carefully(path, monkeypatch))


@SHARED
@given(st.lists(st.integers(-(2**40), 2**40), max_size=40))
def test_any_numbers_are_counted_as_the_package_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numbers: list[int]
) -> None:
    """The numbers are counts and runs of empty bins (ZigZag LEB128); some exceed the histogram."""
    text = packed(payload(b"".join(map(zigzag, numbers))))
    path = write(tmp_path / "a.hlog", f"Tag=READ-rt,0.0,1.0,0.1,{text}")
    assert listed(read_hlog(path)) == listed(carefully(path, monkeypatch))


def zigzag(number: int) -> bytes:
    left = (number << 1) ^ (number >> 63)
    out = bytearray()
    while left >= 0x80 and len(out) < 8:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


SOUND = encoded([1_000, 2_000_000])


@pytest.mark.parametrize(
    "own",
    [
        "half a line",
        "Tag=READ-rt",
        "Tag=READ-rt,0.0,1.0,0.1,",
        "Tag=READ-rt,0.0,1.0,0.1,HISTFAAAAC",
        "Tag=READ-rt,0.0,1.0,0.1,not base64 at all!",
        f"Tag=READ-rt,nan,1.0,0.1,{SOUND}",
        f"Tag=READ-rt,1e3,1.0,0.1,{SOUND}",
        f"Tag=READ-rt,0.0,1.0,0.1,{SOUND[:-8]}",
        f"Tag=READ-rt,0.0,1.0,0.1,{SOUND}\r",
        f"Tag=LESE-ä,0.0,1.0,0.1,{SOUND}",
        f"Tag=READ-rt,0.0,1.0,0.1,{encoded([9_000], lowest=1_000)}",
        f"Tag=READ-rt,0.0,1.0,0.1,{packed(payload(b'', offset=3))}",
        f"Tag=READ-rt,0.0,1.0,0.1,{packed(payload(b'', highest=2**63))}",
        f"Tag=READ-rt,0.0,1.0,0.1,{packed(payload(b'') + b'more')}",
        f"Tag=READ-rt,0.0,1.0,0.1,{packed(payload(bytes([0x80] * 8)))}",
        f"Tag=READ-rt,0.0,1.0,0.1,{packed(payload(b''), cookie=0x1C849304)}",
        f"Tag=READ-rt,0.0,1.0,0.1,{packed(bytes(30))}",
        f"Tag=READ-rt,0.0,1.0,0.1,{packed(bytes(50_000_000))}",
        f"Tag=READ-rt,0.0,1.0,0.1,{'A' * 2_000_000}",
    ],
)
def test_what_is_unusual_or_damaged_is_left_to_the_careful_reader(tmp_path: Path, own: str) -> None:
    before = f"Tag=READ-rt,0.0,1.0,0.1,{SOUND}"
    assert quickly(write(tmp_path / "a.hlog", before, own)) is None


def test_histograms_of_different_resolution_are_left_to_the_careful_reader(tmp_path: Path) -> None:
    coarse = encoded([5_000], figures=2)
    path = write(
        tmp_path / "a.hlog", f"Tag=A-rt,0.0,1.0,0.1,{SOUND}", f"Tag=B-rt,0.0,1.0,0.1,{coarse}"
    )
    assert quickly(path) is None
    (sentence,) = read_hlog(path).damage
    assert "a.hlog:3" in sentence
    assert "different resolution" in sentence


def test_an_interval_that_comes_back_is_added_to_itself(tmp_path: Path) -> None:
    own = [f"Tag=READ-rt,{start},1.0,0.1,{SOUND}" for start in ("0.0", "1.0", "0.0")]
    log = read_hlog(write(tmp_path / "a.hlog", *own))
    assert [(r.start_s, r.latencies.total) for r in log.responses] == [(0.0, 4), (1.0, 2)]
    assert log.totals["READ-rt"].total == 6


def test_a_usual_log_needs_no_careful_reading(tmp_path: Path) -> None:
    own = [
        f"Tag={tag},{start},1.0,0.1,{encoded([1_000 * len(tag)])}"
        for start in ("0.0", "1.0")
        for tag in ("READ-st", "READ-rt", "UPDATE-st", "UPDATE-rt")
    ]
    assert quickly(write(tmp_path / "a.hlog", *own)) is not None


def test_a_missing_log_is_not_read(tmp_path: Path) -> None:
    assert quickly(tmp_path / "none.hlog") is None
