"""The CPU time of JIT compiler threads is separated from the server's other threads."""

from __future__ import annotations

import os
from pathlib import Path

from tare.machines.machine import Here
from tare.monitor.jit import compiler_seconds

TICKS = os.sysconf("SC_CLK_TCK")


def thread(proc: Path, tid: int, name: str, user: int, system: int) -> None:
    directory = proc / "7" / "task" / str(tid)
    directory.mkdir(parents=True)
    before = "S 1 7 7 0 -1 4194368 100 0 0 0"
    text = f"{tid} ({name}) {before} {user} {system} 0 0 20 0 1 0 1 2 3\n"
    (directory / "stat").write_text(text)


def test_only_compiler_threads_count_user_and_system_time(tmp_path: Path) -> None:
    thread(tmp_path, 7, "java", 5000, 5000)
    thread(tmp_path, 8, "C2 CompilerThre", 3 * TICKS, TICKS)
    thread(tmp_path, 9, "C1 CompilerThre", TICKS, 0)
    thread(tmp_path, 10, "odd) name (", 10, 10)
    assert compiler_seconds(7, tmp_path) == 5.0


def test_a_process_without_a_compiler_or_gone_is_unknown_not_zero(tmp_path: Path) -> None:
    thread(tmp_path, 7, "mongod", 10, 10)
    assert compiler_seconds(7, tmp_path) is None
    assert compiler_seconds(8, tmp_path) is None


def test_this_process_has_no_java_compiler() -> None:
    assert compiler_seconds(os.getpid()) is None


def test_another_machine_counts_in_its_own_ticks(tmp_path: Path) -> None:
    class Other(Here):
        ticks = 10 * TICKS

    thread(tmp_path, 8, "C2 CompilerThre", 3 * TICKS, 2 * TICKS)
    assert compiler_seconds(7, tmp_path, Other()) == 0.5
