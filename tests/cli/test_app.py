"""However the terminal or the user ends a command, what it began is taken down."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

BEGUN = """
import signal, sys
from pathlib import Path
from tare.cli import app

def work():
    try:
        print("begun", flush=True)
        sys.stdin.readline() if sys.argv[2] == "read" else signal.pause()
        Path(sys.argv[1]).write_text("went on")
    except KeyboardInterrupt:
        print("cleaning up", flush=True)
        signal.raise_signal(signal.SIGHUP)
        Path(sys.argv[1]).write_text("cleaned up")

app.build = lambda words: work
app.main()
"""


def words(told: Path, how: str = "wait") -> list[str]:
    return [sys.executable, "-c", BEGUN, str(told), how]


def test_a_closed_terminal_takes_down_what_was_begun(tmp_path: Path) -> None:
    told = tmp_path / "told"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, words(told))  # noqa: S606
    assert b"begun" in os.read(terminal, 100)
    os.close(terminal)
    os.waitpid(pid, 0)
    assert told.read_text() == "cleaned up"


def test_a_hangup_is_like_any_other_end(tmp_path: Path) -> None:
    told = tmp_path / "told"
    with subprocess.Popen(words(told), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        process.communicate()
    assert told.read_text() == "cleaned up"


def test_under_nohup_a_hangup_is_nothing(tmp_path: Path) -> None:
    told = tmp_path / "told"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(["nohup", *words(told, "read")], **pipes) as process:  # type: ignore[call-overload]
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        process.communicate(b"on\n")
    assert told.read_text() == "went on"
