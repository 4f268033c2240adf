"""The native runtime, with real processes on this machine."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.addresses import AddressPool
from tare.runtimes import native
from tare.runtimes.native import NativeRunning, NativeRuntime
from tare.runtimes.unit import Bits, Unit
from tare.study.schema import Limits

RUN = "test-native"


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[NativeRuntime]:
    made = NativeRuntime(RUN, tmp_path, AddressPool())
    yield made
    made.close()


def launch(
    runtime: NativeRuntime, *command: str, grace_s: float = 5.0, netns: str = ""
) -> NativeRunning:
    site = runtime.site("u1", role="client", network="host", storage="directory", group="g")
    unit = Unit(
        site, "client", list(command), {}, Limits(), Bits("none"), grace_s=grace_s, netns=netns
    )
    return runtime.launch(unit)


def test_a_unit_prints_lines_and_its_exit_is_known(runtime: NativeRuntime) -> None:
    running = launch(runtime, "/bin/sh", "-c", "echo one; echo two; exit 3")
    assert list(running.lines()) == ["one\n", "two\n"]
    running._process.wait()
    ended = running.exited()
    assert ended is not None
    assert ended.status == 3
    running.stop()


def test_arguments_reach_the_unit_untouched(runtime: NativeRuntime) -> None:
    nasty = "$(touch /tmp/x); `id` \"'\\ --"
    running = launch(runtime, "/usr/bin/printf", "%s", nasty)
    assert "".join(running.lines()) == nasty
    running.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root enters a namespace: sudo make test")
def test_a_unit_enters_a_network_namespace_and_is_the_same_process(runtime: NativeRuntime) -> None:
    other = subprocess.Popen(["unshare", "--net", "sleep", "600"])
    try:
        own, theirs = Path("/proc/self/ns/net").readlink(), Path(f"/proc/{other.pid}/ns/net")
        wait_until(lambda: theirs.readlink() != own)
        running = launch(
            runtime, "/bin/sh", "-c", "echo $$; readlink /proc/self/ns/net", netns=str(theirs)
        )
        pid, namespace = (line.strip() for line in running.lines())
        assert int(pid) == running._process.pid
        assert namespace == str(theirs.readlink())
        running.stop()
    finally:
        other.kill()
        other.wait()


def test_without_nsenter_it_is_said_how_to_get_it(
    runtime: NativeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native.shutil, "which", lambda _: None)
    with pytest.raises(RuntimeUnavailableError, match="network namespace") as raised:
        launch(runtime, "/bin/true", netns="/proc/self/ns/net")
    assert "nsenter" in raised.value.why
    assert "util-linux" in raised.value.remedy


def wait_until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_native_database_is_reached_by_its_loopback_alone(runtime: NativeRuntime) -> None:
    site = runtime.site(
        "n1", role="database", network="host", storage="directory", group="g", several=True
    )
    assert site.target(9042, endpoint="loopback") == site.target(9042)
    assert set(site.ways) == {"loopback"}


def test_stop_ends_the_whole_tree_and_can_be_called_twice(runtime: NativeRuntime) -> None:
    running = launch(runtime, "/bin/sh", "-c", "sleep 600 & echo ready; wait", grace_s=0)
    assert next(iter(running.lines())) == "ready\n"
    tree = psutil.Process(running._process.pid).children(recursive=True)
    assert tree
    running.stop()
    running.stop()
    _, alive = psutil.wait_procs(tree, timeout=5)
    assert not alive


def orphaned(running: NativeRunning) -> list[psutil.Process]:
    """Kill a unit's first process; the processes that it leaves behind."""
    assert next(iter(running.lines())) == "ready\n"
    tree = psutil.Process(running._process.pid).children(recursive=True)
    assert tree
    running._process.kill()
    running._process.wait()
    return tree


@pytest.mark.parametrize("grouped", [True, False])
def test_stop_ends_what_outlives_the_first_process(runtime: NativeRuntime, grouped: bool) -> None:
    runtime._groups = runtime._groups and grouped
    running = launch(runtime, "/bin/sh", "-c", "sleep 600 & echo ready; wait")
    tree = orphaned(running)
    running.stop()
    assert not psutil.wait_procs(tree, timeout=5)[1]
    assert not any(Path(group).exists() for group in running.accounting().paths.values())


@pytest.mark.parametrize("grouped", [True, False])
def test_stop_ends_a_child_that_ignores_what_the_first_process_obeys(
    runtime: NativeRuntime, grouped: bool
) -> None:
    runtime._groups = runtime._groups and grouped
    script = "trap '' TERM; sleep 600 & trap - TERM; echo ready; wait"
    running = launch(runtime, "/bin/sh", "-c", script)
    assert next(iter(running.lines())) == "ready\n"
    tree = psutil.Process(running._process.pid).children(recursive=True)
    running.stop()
    assert not psutil.wait_procs(tree, timeout=5)[1]


def test_a_session_of_somebody_else_is_not_a_unit_s() -> None:
    other = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    try:
        assert native._of_session(other.pid) == []
    finally:
        other.kill()
        other.wait()


def test_a_paused_unit_uses_no_cpu_until_it_is_resumed(runtime: NativeRuntime) -> None:
    running = launch(runtime, "/bin/sh", "-c", "echo on; while :; do :; done", grace_s=0)
    assert next(iter(running.lines())) == "on\n"
    running.pause()
    before = running.accounting().cpu_seconds()
    _burn()
    assert running.accounting().cpu_seconds() == before
    running.resume()
    while running.accounting().cpu_seconds() == before:
        _burn()
    running.stop()


def test_a_paused_unit_can_be_stopped(runtime: NativeRuntime) -> None:
    running = launch(runtime, "/bin/sleep", "600")
    running.pause()
    running.stop()
    assert running.exited() is not None


def test_what_a_dead_run_left_is_found_by_label_and_nothing_else(runtime: NativeRuntime) -> None:
    running = launch(runtime, "/bin/sleep", "600")
    process = psutil.Process(running._process.pid)
    found = native.leftovers()
    assert found.get(process) == RUN
    assert psutil.Process() not in found
    native.remove([process])
    assert running.exited() is not None
    running.stop()


@pytest.mark.parametrize("starter", ["", "1-1-0123456789ab-1", "mine"])
def test_a_process_that_tare_did_not_start_is_not_found_by_a_variable(starter: str) -> None:
    environment = {"TARE_RUN": "mine", "TARE_STARTER": starter}
    mine = subprocess.Popen(["/bin/sleep", "600"], env=environment)
    try:
        assert psutil.Process(mine.pid) not in native.leftovers()
    finally:
        mine.kill()
        mine.wait()


def test_a_process_that_was_given_a_dead_one_s_number_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = subprocess.Popen(["/bin/sleep", "600"])
    try:
        found = psutil.Process(mine.pid)
        monkeypatch.setattr(found, "_ident", (mine.pid, 1.0))  # another start time
        native.remove([found])
        with pytest.raises(subprocess.TimeoutExpired):
            mine.wait(0.2)
        assert not native.runs(found)
    finally:
        mine.kill()
        mine.wait()


def test_database_units_get_addresses_of_their_own(runtime: NativeRuntime) -> None:
    sites = [
        runtime.site(f"n{i}", role="database", network="host", storage="directory", group="g")
        for i in range(3)
    ]
    assert len({site.listen for site in sites}) == 3
    assert all(site.endpoint_host == site.listen for site in sites)


def _burn() -> None:
    """Use a little CPU time of this process."""
    sum(range(200_000))
