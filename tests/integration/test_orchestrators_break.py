"""A machine of an orchestrator that dies during a trial: that trial is lost, nothing else.

Each test breaks a rig of its own; it is skipped where one is up that others may need.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tare.runtimes.kubernetes.api import ClientApi
from tare.runtimes.kubernetes.names import RUN_LABEL
from tare.runtimes.kubernetes.settings import cluster_settings

from . import rigs
from .conftest import Bench, leftovers, running

pytestmark = pytest.mark.engine

HERE = "test_orchestrators_break.py"


@pytest.fixture
def swarm() -> Iterator[None]:
    with rigs.SWARM.new(HERE):
        # a node is called down after three heartbeats that did not come
        manager = f"unix://{rigs.SWARM.state}/s1/docker.sock"
        beat = ["docker", "-H", manager, "swarm", "update", "--dispatcher-heartbeat", "1s"]
        subprocess.run(beat, check=True, capture_output=True)
        yield


@pytest.fixture
def kubernetes() -> Iterator[None]:
    with rigs.KUBERNETES.new(HERE, RIG_NODE_GRACE="10s"):
        yield


def write(bench: Bench, runtime: str, storage: str, measure: str, selector: str = "{}") -> Path:
    platform = (
        f"{{runtime: {runtime}, network: host-port, storage: {storage}, limits: {{memory: 1GiB}}, "
        f"placement: {{node_selector: {selector}}}}}"
    )
    return bench.study("    host-port: {}", name="breaks", platform=platform, measure=measure)


def await_end(bench: Bench, process: subprocess.Popen[str]) -> str:
    """Run to the end, with one failed attempt and a good next one; returns the failure's reason."""
    output, _ = process.communicate(timeout=400)
    assert process.returncode in (0, 3), output
    found = bench.manifests("breaks")
    assert found["D1-B01-host-port"]["status"] == "done"
    failed = found["D1-B01-host-port.failed-1"]
    assert failed["status"] == "failed"
    assert leftovers() == [], output
    return str(failed["reason"])


def databases(below: str) -> list[int]:
    """Database processes in control groups of this name."""
    found: list[int] = []
    for process in psutil.process_iter():
        try:
            groups = Path(f"/proc/{process.pid}/cgroup").read_text(encoding="ascii")
            ours = f"/{below}/" in groups and process.name() == "java"
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (OSError, psutil.Error):  # it has just ended
            continue
    return found


def test_a_dockerd_that_is_killed_loses_the_trial_on_its_node_alone(
    bench: Bench, swarm: None
) -> None:
    study = write(bench, "swarm", "volume", "9s", "{node.role: worker}")
    process = bench.start("run", study)
    bench.await_event(process, "trial begun", run="breaks")
    (node,) = [name for name in ("s2", "s3") if databases(f"tare-swarm/{name}")]
    pid = int((rigs.SWARM.state / node / "docker.pid").read_text(encoding="ascii"))
    os.kill(pid, signal.SIGKILL)
    reason = await_end(bench, process)
    assert "a database node died" in reason
    assert "its node cannot be used: it is down" in reason
    assert databases("tare-swarm") == [], "what its engine left runs on"


@pytest.mark.long
def test_a_kubelet_that_is_killed_loses_the_trial_on_its_node_alone(
    bench: Bench, kubernetes: None
) -> None:
    process = bench.start("run", write(bench, "kubernetes", "emptydir", "18s"))
    bench.await_event(process, "trial begun", run="breaks")
    (node,) = [number for number in (1, 2, 3) if databases(f"tare-rig/n{number}")]
    (kubelet,) = running("kubelet", f"--hostname-override=rig-{node}")
    kubelet.kill()
    reason = await_end(bench, process)
    assert "a database node died" in reason
    assert f"its machine rig-{node} is not ready" in reason
    assert "events:" in reason, "what the cluster itself tells of the pod"
    logs = bench.root / "runs/breaks/trials/D1-B01-host-port.failed-1/logs"
    (events,) = logs.glob("*-events.json")
    assert any(e["reason"] == "NodeNotReady" for e in json.loads(events.read_text("utf-8")))
    settings = cluster_settings()
    assert settings is not None
    assert ClientApi(settings).find("Namespace", labels=RUN_LABEL) == []
    assert databases("tare-rig") == [], "what its kubelet left runs on"
