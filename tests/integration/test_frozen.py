"""A real server that freezes while it is measured: its trial fails or shows it, in every form."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from .conftest import BRIDGE, NATIVE, Bench, leftovers, let_run
from .test_slices import SLICES, is_java

pytestmark = pytest.mark.engine

INTO_MEASURING_S = 1.7
"""0.3 s of warm-up, then 1.4 of what is measured"""
TRIES = 50


def stop_native(root: Path) -> None:
    """kill -STOP of the native node."""
    (node,) = [
        p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] and is_java(p, root)
    ]
    os.kill(node.pid, signal.SIGSTOP)


def pause_container() -> None:
    """`docker pause` of the container's node."""
    asked = ["docker", "ps", "-q", "--filter", "label=tare.run=small", "--no-trunc"]
    (node,) = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    for _ in range(TRIES):  # refused while the group is frozen, between slices of its own
        tried = subprocess.run(["docker", "pause", node], capture_output=True, check=False)
        if tried.returncode == 0:
            return
        time.sleep(0.02)
    raise AssertionError(tried.stderr)


def freeze(process: subprocess.Popen[str], hows: dict[str, Callable[[], None]]) -> None:
    """Do this to each trial's server, by trial name, while its client measures."""
    left = dict(hows)
    while left:
        for child in psutil.process_iter(["cmdline", "name"]):
            words = " ".join(child.info["cmdline"] or []).lower()
            for trial in [
                one for one in left if child.info["name"] == "tare-load" and one in words
            ]:
                time.sleep(INTO_MEASURING_S)  # real servers have no clock to set
                left.pop(trial)()
        let_run(process)


def struck(process: subprocess.Popen[str], hows: dict[str, Callable[[], None]]) -> str:
    """Freeze them; returns the run's output until it ended by itself."""
    try:
        freeze(process, hows)
        output, _ = process.communicate(timeout=300)
    except BaseException:
        process.send_signal(signal.SIGINT)  # else it would hold the machine
        process.communicate(timeout=60)
        raise
    finally:
        process.kill()
    assert process.returncode in (0, 3), output
    assert "Traceback" not in output
    return output


def checks(bench: Bench) -> dict[str, dict[str, Any]]:
    """The checks of the report, by name."""
    told = json.loads((bench.root / "runs/small/analysis.json").read_text(encoding="utf-8"))
    return {one["name"]: one for one in told["checks"]}


def test_a_server_that_is_frozen_for_good_fails_its_trial_natively_and_in_docker(
    bench: Bench,
) -> None:
    process = bench.start("run", bench.study(NATIVE, BRIDGE, measure="2500ms"))
    native, container = lambda: stop_native(bench.root), pause_container
    output = struck(process, {"b01-native": native, "b01-docker-bridge": container})
    manifests = bench.manifests()
    by = {"native": "is stopped by a signal", "docker-bridge": "its control group is frozen"}
    for name, how in by.items():
        failed, done = manifests[f"D1-B01-{name}.failed-1"], manifests[f"D1-B01-{name}"]
        assert "a unit stood still while it was measured" in failed["reason"]
        assert how in failed["reason"]
        assert (done["status"], done["attempt"]) == ("done", 2)
        assert done["clients"][0]["longest_gap_s"] < 1
        assert failed["deployment"] != done["deployment"], "a frozen server is not measured again"
    assert output.count("a unit stood still while it was measured") == 2
    told = " ".join(checks(bench)["trials"]["details"])
    assert told.count("a unit stood still while it was measured") == 2
    report = (bench.root / "runs/small/report.md").read_text(encoding="utf-8")
    assert "a unit stood still while it was measured" in report
    assert leftovers() == []


@pytest.mark.long
def test_a_server_that_is_frozen_amid_slices_is_measured_again(bench: Bench) -> None:
    study = bench.study(NATIVE, BRIDGE, blocks=2)
    process = bench.start("run", study, *SLICES, "--set", "load.measure=4s")
    native, container = lambda: stop_native(bench.root), pause_container
    struck(process, {"b01-native": native, "b02-docker-bridge": container})
    manifests = bench.manifests()
    assert "is stopped by a signal" in manifests["D1-B01-native.failed-1"]["reason"]
    assert "D1-B01-native failed" in manifests["D1-B01-docker-bridge.failed-1"]["reason"]
    assert "paused" in manifests["D1-B02-docker-bridge.failed-1"]["reason"]
    for block in ("B01", "B02"):
        for name in ("native", "docker-bridge"):
            done = manifests[f"D1-{block}-{name}"]
            assert (done["status"], done["attempt"]) == ("done", 2)
    assert leftovers() == []
