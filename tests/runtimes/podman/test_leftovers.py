"""Services that dead commands left: found by mark, and ended; others' are left alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tare import starter
from tare.runtimes.podman import leftovers
from tare.runtimes.registry import declared

from .conftest import Machine

Service = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Starts something that is called podman and was started by whoever has this mark."""
    program = tmp_path / "podman"
    shutil.copy("/bin/sleep", program)
    started: list[subprocess.Popen[bytes]] = []

    def start(mark: str) -> subprocess.Popen[bytes]:
        environment = {starter.STARTER_VARIABLE: mark}
        started.append(subprocess.Popen([program, "60"], env=environment))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()


def marks() -> dict[str, str]:
    pid, start, boot, ids = starter.mark().split("-")
    parent = os.getppid()
    began = Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[19]
    return {
        "dead": f"999999999-{start}-{boot}-{ids}",
        "alive": f"{parent}-{began}-{boot}-{ids}",
        "own": f"{pid}-{start}-{boot}-{ids}",
        "of no command of Tare": "",
    }


def test_a_dead_command_s_service_is_found_and_ended_and_no_other(
    service: Service, machine: Machine
) -> None:
    running = {name: service(mark) for name, mark in marks().items()}
    dead = running.pop("dead")
    assert [one.pid for one in leftovers.services()] == [dead.pid]
    machine("podman", "iptables", version="3.4.4")  # holds nothing of Tare's
    left = declared("podman").left()
    assert left is not None
    assert left.words == {"Podman services": [str(dead.pid)]}
    assert left.remove() == []
    assert not psutil.pid_exists(dead.pid)
    assert left.remain() == {"Podman services": []}
    assert [one.poll() for one in running.values()] == [None, None, None]
