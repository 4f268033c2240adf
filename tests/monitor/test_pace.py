"""The pace of CPUs: sampled by a real tare-probe, found by time, refused if it would mislead."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tare.machines import cgroups
from tare.monitor.pace import MOST_CPUS, Pace, PaceSamples, read_rows, why_not

if TYPE_CHECKING:
    from pathlib import Path

LEAST = 20


def test_a_slice_has_the_mean_log_of_its_own_samples() -> None:
    rows = np.array([[10 + n / 100, 1000.0 if n < 50 else 2000.0] for n in range(100)])
    samples = PaceSamples([rows])
    assert samples.mean(10.0, 0.495) == pytest.approx(math.log(1000))
    assert samples.mean(10.5, 0.2) == pytest.approx(math.log(2000))
    between = (math.log(1000) + math.log(2000)) / 2
    assert samples.mean(10.4, 0.2) == pytest.approx(between, rel=0.02)


def test_all_cpus_count_alike() -> None:
    slow = np.array([[10 + n / 100, 2000.0] for n in range(100)])
    quick = np.array([[10 + n / 50, 1000.0] for n in range(50)])
    found = PaceSamples([slow, quick]).mean(10.0, 1.0)
    assert found == pytest.approx((math.log(1000) + math.log(2000)) / 2)


def test_an_interrupted_sample_counts_as_three_times_the_median_at_most() -> None:
    rows = np.array([[10 + n / 100, 1e9 if n == 50 else 1000.0] for n in range(100)])
    assert PaceSamples([rows]).mean(10.0, 1.0) == pytest.approx(math.log(1000) + math.log(3) / 100)


@pytest.mark.parametrize("begins", [9.0, 10.99, 12.0])
def test_a_slice_with_few_samples_has_none(begins: float) -> None:
    rows = np.array([[10 + n / 100, 1000.0] for n in range(100)])
    assert PaceSamples([rows]).mean(begins, 0.5) is None
    assert PaceSamples([]).mean(begins, 0.5) is None


def test_a_file_that_was_cut_off_or_is_not_there_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    file = tmp_path / "pace"
    assert len(read_rows(file)) == 0
    file.write_bytes(np.array([1.0, 2.0, 3.0, 4.0]).tobytes()[:-3])
    assert read_rows(file).tolist() == [[1.0, 2.0]]


def test_cpus_whose_pace_would_mislead_are_refused_with_the_reason(tmp_path: Path) -> None:
    for cpu, listed in enumerate(["0", "1,3", "2", "1,3"]):
        (tmp_path / f"{cpu}").write_text(f"{listed}\n")
    siblings = str(tmp_path / "{}")
    assert why_not({0, 2}, siblings) == ""
    assert why_not({0, 1}, siblings).startswith("CPU 1 shares its core with CPU 3")
    assert why_not(range(MOST_CPUS + 1), siblings).startswith("the servers may run on 9 CPUs")


def test_a_real_probe_samples_each_millisecond_and_leaves_nothing(tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    begun = time.time()
    pace = Pace("test-pace", {cpu}, tmp_path)
    if pace.why_not:
        pytest.skip(f"{pace.why_not}; as root: .venv/bin/pytest tests/monitor/test_pace.py")
    (pid,) = pace.pids
    assert os.sched_getaffinity(pid) == {cpu}
    assert os.sched_getscheduler(pid) == os.SCHED_FIFO
    file = tmp_path / f"pace-{cpu}"
    while len(read_rows(file)) < LEAST:
        assert time.time() < begun + 30
        os.sched_yield()
    taken = time.time() - begun
    samples = pace.stop()
    found = samples.mean(begun, taken)
    assert found is not None and math.log(50) < found < math.log(1e6)
    assert not pace.pids and not list(tmp_path.iterdir())


GROUPS = cgroups.ROOT / "cpu"
"""of version 1; if real time is assigned per group, a new group has none"""


@pytest.mark.skipif(
    os.geteuid() != 0 or not (GROUPS / "cpu.rt_runtime_us").is_file(),
    reason="needs root, and a kernel that shares out real time by group of version 1; there: "
    ".venv/bin/pytest tests/monitor/test_pace.py",
)
def test_the_pace_is_taken_from_within_a_group_without_real_time(tmp_path: Path) -> None:
    script = (
        'import os, sys; open(sys.argv[1], "w").write(str(os.getpid()))\n'
        "from pathlib import Path; from tare.monitor.pace import Pace\n"
        'pace = Pace("test-pace", {max(os.sched_getaffinity(0))}, Path(sys.argv[2]))\n'
        "told = pace.why_not or [os.sched_getscheduler(pid) for pid in pace.pids]\n"
        "pace.stop(); print(told)"
    )
    group = GROUPS / f"tare-test-{os.getpid()}"
    group.mkdir()
    try:
        assert (group / "cpu.rt_runtime_us").read_text() == "0\n"
        command = [sys.executable, "-c", script, str(group / "cgroup.procs"), str(tmp_path)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    finally:
        cgroups.remove_empty(group)
    if "shares its core" in told:
        pytest.skip(f"{told.strip()}; where none does: .venv/bin/pytest tests/monitor/test_pace.py")
    assert told == f"[{os.SCHED_FIFO}]\n"
