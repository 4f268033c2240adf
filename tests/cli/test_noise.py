"""What commands say from the kept pilot, and how they show its numbers."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tare.cli.doctor_noise import age, noise_found, noise_lines
from tare.errors import LoadError
from tare.lab.pilot import Piloted
from tests.cli import in_process
from tests.cli.in_process import Ended
from tests.kept_noise import keep_pilot, pilot

STUDY = """\
study: threads
factors: {threads: {few: {}, many: {load: {threads: 64}}, most: {load: {threads: 128}}}}
baseline: {threads: few}
load: {workload: ycsb-c, warmup: 500ms, measure: 16s}
design: {deployments: 4, blocks: 1, slice: 250ms}
margins: {service_demand: 3%, throughput: 0.5%}
"""


def tare(place: Path, *words: str) -> Ended:
    (place / "study.yaml").write_text(STUDY)
    own = {"TARE_CACHE": str(place / "cache"), "COLUMNS": "300"}
    return in_process.tare(*words, cwd=place, environment={**os.environ, **own})


def test_a_plan_names_the_pilot_its_age_and_what_it_leaves_undecided(tmp_path: Path) -> None:
    """64 slices in each of 4 deployments: the standard error is 2% / 16, times t of 6 df, 2.447."""
    keep_pilot(tmp_path / "cache", per_pass=0.02)
    done = tare(tmp_path, "plan", "study.yaml")
    assert done.returncode == 0, done.stderr
    assert (
        "expected of this machine's noise, without a database (tare doctor --noise, 3 hours ago):"
        in done.stdout
    )
    assert (
        "service demand inside one deployment: intervals of at least ±0.31%; may be decided at the "
        "margin of 3%\n" in done.stdout
    )
    line = next(one for one in done.stdout.splitlines() if "throughput inside" in one)
    assert "at least ±0.61%; will not be decided at the margin of 0.5%: many against few" in line
    assert "most against few; design.deployments of " in line


def test_without_a_pilot_the_plan_says_how_to_make_one(tmp_path: Path) -> None:
    done = tare(tmp_path, "plan", "study.yaml")
    assert "service demand, throughput inside one deployment\n" in done.stdout
    assert "run `tare doctor --noise`, a minute" in done.stdout


def test_doctor_tells_the_pilot_in_a_line(tmp_path: Path) -> None:
    keep_pilot(tmp_path / "cache", per_pass=0.02)
    found = {one["what"]: one for one in json.loads(tare(tmp_path, "doctor", "--json").stdout)}
    assert found["noise"]["ok"]
    assert found["noise"]["says"].startswith("measured 3 hours ago: at least ±0.19% of service")


def test_doctor_says_that_there_is_no_pilot_and_does_without(tmp_path: Path) -> None:
    found = {one["what"]: one for one in json.loads(tare(tmp_path, "doctor", "--json").stdout)}
    assert not found["noise"]["ok"]
    assert not found["noise"]["needed"]
    assert found["noise"]["remedy"].startswith("tare doctor --noise")


def test_the_pilot_in_words_says_what_it_cannot_tell() -> None:
    text = "\n".join(noise_lines(pilot(0.02)))
    assert "a slice of 250 ms differs by 9% in service demand" in text
    assert "0.73 with the next one's, 0.50 after 10, (too short a pilot) after 40" in text
    assert "the hypervisor took 3.1% of the CPU time; other programs used 0.02 cores" in text
    assert "service demand: ±0.43% after 1 min, ±0.19% after 5 min, ±0.11% after 15 min" in text
    assert "nor how identical deployments differ (a JVM's compiler" in text
    assert "disturbed" not in text
    assert "disturbed the pilot" in "\n".join(noise_lines(pilot(0.02, other_cores=0.8)))
    stopped = pilot(0.02).model_copy(update={"gap_s": 0.7})
    assert "note: nothing was answered for 0.7 s" in "\n".join(noise_lines(stopped))


def test_a_pilot_that_other_work_drowned_is_refused() -> None:
    measured = Piloted(
        rows=[[], []], order=[], seconds=1, slice_s=0.25, drain_s=0.03, pinned=True, frozen=True,
        idle_cpus="poll", turn="pass", late=0, steal=0.0, other_cores=1.5,
    )  # fmt: skip
    with pytest.raises(LoadError, match=r"1\.5 cores") as refused:
        noise_found(measured)
    assert "tare doctor --noise" in refused.value.remedy


def test_ages_are_told_in_their_largest_unit() -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    ages = {5: "just now", 90: "1 minute ago", 7300: "2 hours ago", 200_000: "2 days ago"}
    for seconds, words in ages.items():
        assert age(now - timedelta(seconds=seconds), now) == words
