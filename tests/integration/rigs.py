"""Clusters that a test starts on this machine for itself, by the scripts of `rig/`."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tare.runtimes.kubernetes.settings import VARIABLE as KUBERNETES
from tare.runtimes.swarm.settings import VARIABLE as SWARM

RIG = Path(__file__).parents[2] / "rig"
KUBERNETES_STATE = Path("/var/lib/tare-rig")
SWARM_STATE = Path("/var/lib/tare-swarm")


def is_up(state: Path) -> bool:
    """A rig runs from this directory; what a killed run or a reboot left of one does not count."""
    return state.exists() and any(
        one.info["environ"] and one.info["environ"].get("TARE_RIG") == str(state)
        for one in psutil.process_iter(["environ"])
    )


def no_kubernetes() -> str:
    """Why none can be started here; empty where one can."""
    built = subprocess.run([RIG / "build.sh", "--check"], check=False).returncode == 0
    return "" if built and os.geteuid() == 0 else "no cluster: make rig (as root)"


def no_swarm() -> str:
    """Why none can be started here; empty where one can."""
    can = os.geteuid() == 0 and shutil.which("dockerd") is not None
    return "" if can else "no Swarm: make rig-swarm (as root)"


@contextlib.contextmanager
def kubernetes_rig(**settings: str) -> Iterator[None]:
    """A Kubernetes of three nodes, named in the environment until it is taken down.

    Args:
        settings: variables of the rig's scripts.
    """
    if KUBERNETES_STATE.exists():
        _take_down(KUBERNETES_STATE)
    try:
        subprocess.run([RIG / "up.sh"], env={**os.environ, **settings}, check=True, timeout=300)
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("KUBECONFIG", str(KUBERNETES_STATE / "tare.kubeconfig"))
            environment.setenv(KUBERNETES, str(KUBERNETES_STATE / "cluster.yaml"))
            yield
    finally:
        _take_down(KUBERNETES_STATE)


@contextlib.contextmanager
def swarm_rig() -> Iterator[None]:
    """A Swarm of three, named in the environment until it is taken down."""
    if SWARM_STATE.exists():
        _take_down(SWARM_STATE)
    try:
        subprocess.run([RIG / "swarm.sh"], check=True, timeout=300)
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv(SWARM, str(SWARM_STATE / "swarm.yaml"))
            yield
    finally:
        _take_down(SWARM_STATE)


def _take_down(state: Path) -> None:
    down = {**os.environ, "RIG_NAME": state.name}
    subprocess.run([RIG / "down.sh"], env=down, check=True, timeout=120)
