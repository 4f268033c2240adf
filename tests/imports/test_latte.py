"""latte's JSON report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tare.analysis.analyse import analyse
from tare.imports import latte
from tare.imports.file_content import PrintedInterval, UnreadableError
from tests.imports.conftest import DATA, TWO_PLATFORMS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.imports.conftest import Import

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


def test_what_it_prints_of_its_settings_is_told_and_no_password() -> None:
    document = json.loads(REPORT)
    document["conf"]["connection"] |= {"user": "jo", "password": "hunter2"}
    (reading,) = latte.read(json.dumps(document).encode())
    told = {name.removeprefix("property "): text for name, text in reading.told.items()}
    assert told["tool"] == "latte"
    assert told["cass_version"] == "5.0.9"
    assert told["connection.addresses"] == "127.0.0.1, 127.0.0.2, 127.0.0.3"
    assert told["workload"] == "mixed3.rn"
    assert told["functions"] == "read 3.0, write 1.0"
    assert not {"jo", "hunter2"} & set(told.values())
    assert not {"concurrency", "timestamp", "id"} & set(told), "a fact, and each run's own"


def test_other_hosts_are_a_difference_beside_the_effect(
    import_: Import, study: Path, tmp_path: Path, run: Path
) -> None:
    study.write_text(TWO_PLATFORMS, encoding="utf-8")
    other = json.loads(REPORT)
    other["conf"]["connection"]["addresses"] = ["10.0.0.7"]
    other["conf"]["concurrency"] = 64
    for number in (1, 2):
        (tmp_path / f"native_{number}.txt").write_bytes(REPORT)
        (tmp_path / f"docker_{number}.txt").write_text(json.dumps(other), encoding="utf-8")
    assert not import_("latte", *sorted(tmp_path.glob("*_*.txt"))).skipped
    found = {one.fact: one.values for one in analyse(run).parity}
    assert found == {
        "concurrency": {"32": ["native"], "64": ["docker"]},
        "property connection.addresses": {
            "127.0.0.1, 127.0.0.2, 127.0.0.3": ["native"],
            "10.0.0.7": ["docker"],
        },
    }


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
