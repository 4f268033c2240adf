"""System calls of a program that makes a known number of them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.machines.cgroups import Accounting
from tare.monitor import calls as module
from tare.monitor import perf_events
from tare.monitor.calls import CALLS, KINDS, CallCounters

if TYPE_CHECKING:
    from collections.abc import Iterator

KNOWN = {"read": 700, "write": 500, "sendmsg": 300, "sync": 3}
PROGRAM = f"""
import os, socket, sys, tempfile, threading
zero, null = os.open("/dev/zero", os.O_RDONLY), os.open("/dev/null", os.O_WRONLY)
here, there = socket.socketpair()
file = tempfile.TemporaryFile()
def work():
    for _ in range({KNOWN["read"]}): os.read(zero, 1)
    for _ in range({KNOWN["write"]}): os.write(null, b"x")
    for _ in range({KNOWN["sendmsg"]}): os.writev(null, [b"x", b"y"])
    for _ in range({KNOWN["sync"]}): os.fdatasync(file.fileno())
for line in sys.stdin:
    if line == "thread\\n":
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    else:
        work()
    print("done", flush=True)
"""


class Program:
    """A process that makes the known calls on command."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", PROGRAM],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.unit = Accounting(pids=(self.process.pid,))

    def work(self, how: str = "main") -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{how}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"


@pytest.fixture
def program() -> Iterator[Program]:
    made = Program()
    made.work()  # warm-up: imports and starts are done
    yield made
    made.process.kill()
    made.process.communicate()


def skip_where_nobody_may_count() -> None:
    try:
        os.close(perf_events.count(0, perf_events.tracepoint("raw_syscalls/sys_enter"), ""))
    except OSError as refused:
        pytest.skip(f"{refused}; as root: .venv/bin/pytest tests/monitor/test_calls.py")


@pytest.fixture
def counters() -> Iterator[CallCounters]:
    skip_where_nobody_may_count()
    made = CallCounters()
    yield made
    made.close()


def counting(counters: CallCounters, program: Program) -> CallCounters:
    counters.add([program.unit])
    assert counters.why_not == ""
    counters.take({"n1": [program.unit]})
    return counters


@pytest.mark.parametrize("how", ["main", "thread"])
def test_a_known_number_of_calls_is_counted_by_kind_in_threads_that_begin_later_too(
    counters: CallCounters, program: Program, how: str
) -> None:
    counting(counters, program)
    program.work(how)
    own = counters.take({"n1": [program.unit]})["n1"]
    for kind, number in KNOWN.items():
        assert number <= own[kind] < number + 10, kind  # plus one line read and one written
    kinds = sum(own[kind] for kind in KINDS)
    assert kinds <= own[CALLS] < kinds + 100  # calls that start a thread have no kind


def test_what_was_taken_is_not_taken_again(counters: CallCounters, program: Program) -> None:
    counting(counters, program)
    program.work()
    assert counters.take({"n1": [program.unit]})["n1"]["read"] >= KNOWN["read"]
    assert counters.take({"n1": [program.unit]})["n1"]["read"] < 10


def test_when_it_is_closed_nothing_is_counted_and_no_descriptor_is_left(
    counters: CallCounters, program: Program
) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    counting(counters, program)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == limit
    counters.close()
    program.work()
    assert counters.take({"n1": [program.unit]}) == {}


def test_where_no_more_files_may_be_open_than_are_allowed_already_calls_are_counted(
    counters: CallCounters, program: Program
) -> None:
    """Counters use the highest descriptors, and leave the low ones free."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        counting(counters, program)
        program.work()
        assert counters.take({"n1": [program.unit]})["n1"]["read"] >= KNOWN["read"]
        with Path(os.devnull).open() as another:
            assert another.fileno() < hard - 100
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_where_counters_would_take_all_open_files_nothing_is_counted(
    monkeypatch: pytest.MonkeyPatch, counters: CallCounters, program: Program
) -> None:
    monkeypatch.setattr(module.resource, "getrlimit", lambda _: (600, 600))
    counters.add([program.unit])
    assert counters.why_not == (
        "the kernel counts no system calls for it: it takes 263 open files, of 600 that are "
        "allowed (ulimit -Hn)"
    )


def test_where_the_kernel_refuses_nothing_is_counted_and_the_reason_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(perf_events, "tracepoint", lambda name: 1)
    monkeypatch.setattr(perf_events, "count", refuse)
    refused = CallCounters()
    unit = Accounting(pids=(1,))
    refused.add([unit])
    assert refused.why_not == "the kernel counts no system calls for it: Permission denied"
    assert refused.take({"n1": [unit]}) == {}


def test_without_tracefs_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> int:
        raise OSError("tracefs cannot be looked into: no such file system")

    monkeypatch.setattr(perf_events, "tracepoint", none)
    assert "no such file system" in CallCounters().why_not


def test_on_a_machine_whose_calls_are_not_known_nothing_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module.platform, "machine", lambda: "vax")
    assert "vax" in CallCounters().why_not
