"""latte's JSON report."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tare.imports import latte
from tare.imports.reading import PrintedInterval, UnreadableError
from tests.imports.conftest import DATA

REPORT = (DATA / "latte-mixed-report.json").read_bytes()


def changed(**result: Any) -> bytes:
    document = json.loads(REPORT)
    document["result"] |= result
    return json.dumps(document).encode()


def test_a_real_report() -> None:
    (reading,) = latte.read(REPORT)
    assert reading.values["throughput"] == 1425.6561279771404
    assert reading.values["read.mean"] == pytest.approx(24513.833846459114)
    assert reading.values["write.p99"] == pytest.approx(176947.199)
    assert reading.values["all.max"] == pytest.approx(354680.831)
    assert reading.operations == 21422
    assert reading.seconds == 15.026099157
    assert reading.started == pytest.approx(1795254311.941334)
    assert reading.facts["concurrency"] == "32"
    assert reading.facts["consistency"] == "Quorum"
    assert reading.intervals[0] == PrintedInterval(
        pytest.approx(1.004264227), 1224.8654, pytest.approx(131923.967)
    )
    assert reading.tags == {"READ-rt", "WRITE-rt"}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (REPORT[:5000], "cut off or damaged JSON"),
        (b"{}", "another version"),
        (b"[" * 100_000, "not JSON|damaged"),
        (changed(cycle_throughput={"value": None}), "cycle_throughput is None"),
        (changed(cycle_throughput={"value": -1}), "cycle_throughput is -1"),
        (changed(elapsed_time_s=0), "nothing was measured"),
        (changed(start_time="yesterday"), "damaged"),
        (changed(cycle_latency=[]), "damaged"),
        (REPORT.replace(b"HISTFAAA", b"HISTFAAB"), "histogram"),
        ((DATA / "latte-mixed.txt").read_bytes(), "its JSON report has the numbers"),
        ((DATA / "latte-mixed.hdr.log").read_bytes(), "use tare import hlog"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        latte.read(data)
