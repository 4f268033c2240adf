"""remove.sh kills a process only if it still has the mark that find.sh saw."""

from __future__ import annotations

import signal
import subprocess
from importlib.resources import files

import pytest

from tare.runtimes.ssh.names import MARK_VARIABLE


def ended(process: subprocess.Popen[bytes], mark: str) -> int | None:
    """Run remove.sh on a process found with this mark; its exit status, or None: it still runs."""
    script = (files("tare.runtimes.ssh") / "remove.sh").read_text(encoding="ascii")
    line = f"process {process.pid} {mark}"
    done = subprocess.run(["/bin/sh", "-c", script, "sh", line], capture_output=True, check=True)
    assert done.stderr == b""
    try:
        return process.wait(0.2)
    except subprocess.TimeoutExpired:
        return None


@pytest.mark.parametrize(
    ("marks", "status"),
    [
        ({MARK_VARIABLE: "me.run"}, -signal.SIGKILL),
        ({}, None),
        ({MARK_VARIABLE: "me.run-2"}, None),
        ({MARK_VARIABLE: "me-run"}, None),
        ({f"NOT_{MARK_VARIABLE}": "me.run"}, None),
    ],
)
def test_a_number_that_is_another_s_by_now_is_left_alone(
    marks: dict[str, str], status: int | None
) -> None:
    process = subprocess.Popen(["/bin/sleep", "600"], env={"FIRST": "1", **marks, "LAST": "1"})
    try:
        assert ended(process, "me.run") == status
    finally:
        process.kill()
        process.wait()


def test_a_process_that_has_gone_is_no_fault() -> None:
    """`ended` checks the script's exit status and what it writes to stderr."""
    process = subprocess.Popen(["/bin/true"])
    process.wait()
    assert ended(process, "me.run") == 0
