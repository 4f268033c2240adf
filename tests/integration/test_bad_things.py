"""Kills, deaths and rivals: no measurement is lost, and nothing is left running."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from .conftest import BRIDGE, NATIVE, Bench, leftovers, let_run, running

pytestmark = pytest.mark.engine


@contextlib.contextmanager
def killed_and_run_again(
    bench: Bench, study: Path, *options: str, begun: int = 4, after_s: float = 4.0, trials: int = 4
) -> Iterator[None]:
    """A run that kill -9 ends in its second block; after the `with` the same command resumes it.

    The first block's two trials stay as they were measured.

    Args:
        begun: the trial whose begin is waited for.
        after_s: how long behind it: clients connect, then slices begin; when is of no matter.
        trials: all that the study has.
    """
    process = bench.start("run", study, *options)
    bench.await_event(process, "trial begun", begun)
    time.sleep(after_s)
    process.kill()
    process.wait()
    kept = {name: one["ended"] for name, one in bench.manifests().items()}
    assert len(kept) == 2
    yield
    again = bench.measured("run", study, *options)
    assert "resuming small" in again.stdout
    manifests = bench.manifests()
    assert len(manifests) == trials
    assert {name: manifests[name]["ended"] for name in kept} == kept


def good_after_harm(
    bench: Bench, study: Path, harm: Callable[[int], None], measure: str, after_s: float = 3.0
) -> list[dict[str, Any]]:
    """Every trial of two blocks, although a trial of the condition `bridge` was harmed.

    Args:
        harm: is given the run's process.
        measure: how long a trial is.
        after_s: how long behind the begin of that trial: its load runs by then.
    """
    process = bench.start("run", study, "--set", f"load.measure={measure}")
    bench.await_event(process, "trial begun", of="bridge")
    time.sleep(after_s)
    harm(process.pid)
    output, _ = process.communicate(timeout=300)
    assert process.returncode in (0, 3), output
    assert "Traceback" not in output
    good = [one for one in bench.manifests().values() if one["status"] == "done"]
    assert len(good) == 4, output
    return good


@pytest.mark.long
def test_kill_9_then_run_again_keeps_what_was_finished(bench: Bench) -> None:
    study = bench.study(NATIVE, BRIDGE, blocks=3)
    with killed_and_run_again(bench, study, begun=3, after_s=0.0, trials=6):
        assert leftovers() != [], "a killed run cannot clean up: the next one must have work to do"
    assert leftovers() == []


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGHUP, marks=pytest.mark.long)]
)
def test_ctrl_c_and_a_closed_terminal_stop_cleanly_and_the_run_can_be_resumed(
    bench: Bench, how: signal.Signals
) -> None:
    study = bench.study(NATIVE, BRIDGE)
    process = bench.start("run", study)
    bench.await_event(process, "deployment begun")
    second = bench.tare("run", study, "--name", "other")
    assert second.returncode == 1
    assert f"process {process.pid} runs small" in second.stderr, "one run at a time"
    assert not (bench.root / "runs" / "other").exists()
    bench.await_event(process, "trial begun")
    process.send_signal(how)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 130, output
    assert "interrupted" in output
    assert leftovers() == []
    assert bench.tare("run", study).returncode in (0, 3)
    assert len(bench.manifests()) == 2


def test_a_node_and_a_load_client_that_die_fail_their_trials_which_are_then_retried(
    bench: Bench,
) -> None:
    study = bench.study(NATIVE, blocks=2)
    process = bench.start("run", study)
    bench.await_event(process, "trial begun")
    (node,) = running("java", "cassandradaemon")
    node.kill()
    await_client(process, "b02").kill()
    output, _ = process.communicate(timeout=600)
    assert process.returncode in (0, 3), output
    manifests = bench.manifests()
    failed = manifests["D1-B01-native.failed-1"]
    assert "a database node died" in failed["reason"]
    assert "killed by SIGKILL" in failed["reason"]
    logs = bench.root / "runs/small/trials/D1-B01-native.failed-1/logs"
    assert [log for log in logs.iterdir() if log.name.endswith("system.log")]
    good = manifests["D1-B01-native"]
    assert (good["status"], good["deployment"]) == ("done", "D1-all-2")
    assert "without a result" in manifests["D1-B02-native.failed-1"]["reason"]
    assert manifests["D1-B02-native"]["status"] == "done"
    assert leftovers() == []


def await_client(process: subprocess.Popen[str], trial: str) -> psutil.Process:
    """The load client of a trial, once it runs."""
    while not (found := running("tare-load", trial)):
        let_run(process)
    return found[0]


@pytest.mark.long
def test_a_disk_that_fills_in_the_middle_of_a_trial_loses_no_finished_one(bench: Bench) -> None:
    study = bench.study(NATIVE, blocks=3)
    with small_disk(bench.root / "runs") as disk:
        process = bench.start("run", study)
        bench.await_event(process, "trial begun", 2)
        fill(disk)
        output, _ = process.communicate(timeout=600)
        assert process.returncode in (1, 3), output
        assert "No space left on device" in output
        assert leftovers() == []
        assert bench.manifests()["D1-B01-native"]["status"] == "done"
        kept = bench.manifests()["D1-B01-native"]["ended"]
        (disk / "filler").unlink()
        bench.measured("run", study)
        done = {n: m for n, m in bench.manifests().items() if m["status"] == "done"}
        assert sorted(done) == [f"D1-B0{block}-native" for block in (1, 2, 3)]
        assert done["D1-B01-native"]["ended"] == kept
    assert leftovers() == []


@contextlib.contextmanager
def small_disk(at: Path) -> Iterator[Path]:
    """A file system of its own, of 600 MiB."""
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600m", "tmpfs", str(at)], check=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", str(at)], check=True)


def fill(disk: Path) -> None:
    """Write until no space is left."""
    with (disk / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
