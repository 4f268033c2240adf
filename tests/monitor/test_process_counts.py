"""Counts of units' processes; some tests count this very process."""

from __future__ import annotations

import mmap
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.machines.cgroups import Accounting
from tare.monitor.meter import CpuReading
from tare.monitor.process_counts import (
    MOST_PROCESSES,
    ProcessCounts,
    io_counts,
    processes_of,
)
from tare.monitor.switches import Switches

if TYPE_CHECKING:
    from collections.abc import Iterator

ME = Accounting(pids=(os.getpid(),))


@pytest.fixture
def counts() -> Iterator[ProcessCounts]:
    made = ProcessCounts()
    yield made
    made.close()


def read(counts: ProcessCounts, *servers: Accounting) -> dict[str, int]:
    return counts.read({"me": [ME]}, servers, lambda file: Path(file).read_text())


def grown(counts: ProcessCounts, before: dict[str, int], name: str) -> int:
    return read(counts, ME)[name] - before[name]


def test_a_sleep_is_a_context_switch(counts: ProcessCounts) -> None:
    if why := Switches().why_not:
        pytest.skip(f"{why}; as root: .venv/bin/pytest tests/monitor/test_process_counts.py")
    before = read(counts, ME)
    for _ in range(200):
        time.sleep(1e-5)
    assert 200 <= grown(counts, before, "server_switches") < 300


def test_the_first_touch_of_a_page_is_a_fault(counts: ProcessCounts) -> None:
    pages = 500
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        before = read(counts, ME)
        for page in range(pages):
            memory[page * mmap.PAGESIZE] = 1
        assert pages <= grown(counts, before, "server_faults") < pages + 100


def test_bytes_are_those_of_storage_not_of_calls() -> None:
    told = "rchar: 900\nwchar: 800\nsyscr: 7\nsyscw: 6\nread_bytes: 4096\nwrite_bytes: 8192\n"
    assert io_counts(told + "cancelled_write_bytes: 0\n") == {
        "read_bytes": 4096,
        "written_bytes": 8192,
    }
    assert io_counts("") == {}


def test_what_is_no_server_is_a_client(counts: ProcessCounts) -> None:
    clients, servers = read(counts), read(counts, ME)
    assert "client_faults" in clients
    assert "server_faults" in servers
    assert all(name.startswith("client_") for name in clients)
    assert all(name.startswith("server_") for name in servers)


def test_of_a_process_that_has_ended_nothing_is_counted(counts: ProcessCounts) -> None:
    ended = subprocess.Popen(["/bin/true"])
    ended.wait()
    gone = Accounting(pids=(ended.pid,))

    def text(file: str) -> str:
        try:
            return Path(file).read_text()
        except OSError:
            return ""

    assert counts.read({"gone": [gone]}, [gone], text) == {}
    assert counts.read({"gone": [gone], "me": [ME]}, [gone], text).keys() == read(counts).keys()


def test_a_unit_s_processes_are_those_of_its_group_and_below_found_anew_when_asked(
    tmp_path: Path, counts: ProcessCounts
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "cgroup.procs").write_text("7\n")
    (tmp_path / "below" / "cgroup.procs").write_text("9\n8\n")
    unit = Accounting({"cpuacct": str(tmp_path)}, pids=(7,))
    assert processes_of(unit) == [7, 8, 9]
    assert processes_of(Accounting({"cpuacct": str(tmp_path / "none")}, pids=(7,))) == [7]


def test_of_very_many_processes_nothing_is_counted(tmp_path: Path, counts: ProcessCounts) -> None:
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    unit = Accounting({"cpuacct": str(tmp_path)}, pids=(os.getpid(),))
    assert counts.read({"u": [unit]}, [unit], lambda file: Path(file).read_text())
    (tmp_path / "cgroup.procs").write_text("".join(f"{n}\n" for n in range(1, MOST_PROCESSES + 2)))
    counts.forget()
    assert counts.read({"u": [unit]}, [unit], lambda file: Path(file).read_text()) == {}


def test_where_a_unit_of_a_role_runs_elsewhere_nothing_is_counted_of_the_role(
    counts: ProcessCounts,
) -> None:
    """One of two servers is a pod on another machine, but the operations include its share."""
    found = counts.read(
        {"here": [ME], "elsewhere": [Accounting()]},
        [ME, Accounting()],
        lambda file: Path(file).read_text(),
    )
    assert found == {}


def reading(**counts: int) -> CpuReading:
    return CpuReading(0.0, 0.0, 0.0, 0.0, {}, {}, counts)


def test_where_a_thread_has_ended_the_switches_of_its_slice_are_not_known() -> None:
    """An ended thread takes its switches out of the sum: here, 5,000 leave and 40 are new."""
    before = reading(server_switches=9000, server_threads=12, server_faults=5, client_switches=1)
    lost = reading(server_switches=4040, server_threads=11, server_faults=6, client_switches=3)
    assert lost.since(before).counts == {"server_faults": 1, "client_switches": 2}
    as_many = reading(server_switches=4040, server_threads=12, server_faults=6, client_switches=3)
    assert as_many.since(before).counts == {"server_faults": 1, "client_switches": 2}
    more = reading(server_switches=9040, server_threads=13, server_faults=6, client_switches=3)
    assert more.since(before).counts["server_switches"] == 40


def test_of_an_ended_process_whose_id_is_another_s_no_switches_are_counted(
    counts: ProcessCounts,
) -> None:
    """The open file shows that the process has ended; taskstats would only use the id."""

    def ended(file: str) -> str:
        raise ProcessLookupError(file)

    assert counts.read({"me": [ME]}, [ME], ended) == {}
