"""CSV tables from any source: one row per trial, or one per interval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.imports import csv_tables
from tare.imports.file_content import PrintedInterval, UnreadableError
from tests.imports.conftest import DATA

if TYPE_CHECKING:
    from tests.imports.conftest import Import

TRIALS = """\
platform,threads,repetition,throughput,read.mean,read.p99 (ms),errors,operations,my.own
bare,few,1,1000,500,9.5,0,60000,7
bare,few,2,1010,505,9.6,0,60000,7
docker,few,1,900,550,11.5,3,54000,8
docker,few,2,,560,11.6,0,54000,
"""
INTERVALS = """\
platform,threads,repetition,t,throughput,all.mean,all.p99,cpu.util,errors
docker,few,1,1,100,500,900,10,0
docker,few,1,2,300,700,950,20,2
docker,few,2,1,100,500,900,10,0
docker,few,2,2,100,500,900,10,0
"""


def test_a_row_is_a_trial(import_: Import, tmp_path: Path, run: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text(TRIALS, encoding="utf-8")
    outcome = import_("csv", path)
    assert sorted(outcome.trials) == [
        "D1-B01-docker.few", "D1-B01-native.few", "D1-B02-docker.few", "D1-B02-native.few"
    ]  # fmt: skip
    analysis = analyse(run)
    trials = {trial.trial: trial for trial in analysis.trials}
    assert trials["D1-B01-docker.few"].values["read.p99"] == 11_500, "ms are made us"
    assert trials["D1-B01-docker.few"].values["my.own"] == 8
    assert trials["D1-B01-docker.few"].errors == 3
    assert "throughput" not in trials["D1-B02-docker.few"].values, "an empty cell is no 0"


def test_a_row_may_be_an_interval() -> None:
    first, second = csv_tables.read(INTERVALS.encode())
    assert first.intervals == [
        PrintedInterval(1.0, 100.0, 900.0),
        PrintedInterval(2.0, 300.0, 950.0),
    ]
    assert first.values == {
        "throughput": 200,
        "all.mean": (100 * 500 + 300 * 700) / 400,
        "cpu.util": 15,
        "errors": 2,
    }
    assert first.named == {"repetition": "1"}
    assert first.facts == {"platform": "docker", "threads": "few"}
    assert first.seconds == 2
    assert "percentile of the whole" in first.notes[0]
    assert second.named == {"repetition": "2"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("platform,repetition\nbare,1\n", "no column is a metric"),
        ("platform,throughput\n", "no row"),
        ("platform,throughput\nbare\n", "cut off"),
        ("platform,throughput\nbare,x\n", "row 2, throughput is no number"),
        ("platform,throughput\nbare,inf\n", "row 2, throughput is inf"),
        ("platform,platform,throughput\na,b,1\n", "two of one name"),
        ('platform,throughput\n"bare,1\n', "damaged CSV"),
        ("platform,throughput\nbare,\n", "row 2 has no metric"),
        ((DATA / "ycsb-cassandra-a-t.txt").read_text(encoding="utf-8"), "cells|metric|name"),
    ],
)
def test_what_is_wrong_is_said(text: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        csv_tables.read(text.encode())
