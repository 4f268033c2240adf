"""A command takes down what it began, however the terminal or the user ends it."""

from __future__ import annotations

import errno
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tare.cli import app, commands, signals

BEGUN = """
import signal, sys
from pathlib import Path
from tare.cli import app, commands, signals

if sys.argv[2] == "wait":  # these tests may themselves be run under nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

def work():
    try:
        print("begun", flush=True)
        sys.stdin.readline() if sys.argv[2] == "read" else signal.pause()
        Path(sys.argv[1]).write_text("went on")
    except KeyboardInterrupt:
        print("cleaning up", flush=True)
        for again in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.raise_signal(again)
        Path(sys.argv[1]).write_text("cleaned up")

commands.build = lambda: work
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


def test_an_impatient_user_does_not_cut_the_cleaning_short(tmp_path: Path) -> None:
    told = tmp_path / "told"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words(told), **pipes) as process:  # type: ignore[call-overload]
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert told.read_text() == "cleaned up"
    assert b"still stopping what was begun" in errors


def test_an_end_while_the_command_is_still_imported_is_no_traceback(tmp_path: Path) -> None:
    script = (
        "import signal, sys; from tare.cli import app\n"
        "class Late:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'tare.cli.commands': signal.raise_signal(signal.SIGTERM)\n"
        "sys.meta_path.insert(0, Late()); app.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"tare: interrupted\n")


def test_a_signal_while_the_interpreter_ends_changes_no_exit_status() -> None:
    script = (
        "import atexit, os, signal, sys; from tare.cli import app\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGTERM)\n"
        "class Last:\n"
        "    def __del__(self, kill=os.kill, own=os.getpid(), number=signal.SIGTERM):\n"
        "        kill(own, number)\n"
        "sys.last = Last(); sys.argv = ['tare', '--version']; app.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left", "/runs/x"), "free the disk;"),
        (OSError(errno.EACCES, "Permission denied", "/runs/x"), "let this user read and write it"),
        (OSError(errno.EROFS, "Read-only", "/runs/x"), "name a place that can be written;"),
        (OSError(errno.ENOTDIR, "Not a directory", "/runs/x"), "correct the path;"),
        (MemoryError(), "stop what else runs here;"),
    ],
    ids=str,
)
def test_what_the_system_refuses_has_the_remedy_of_its_kind(
    error: Exception,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails() -> None:
        raise error

    monkeypatch.setattr(commands, "build", lambda: fails)
    monkeypatch.setattr(signals, "take_over", lambda: None)
    monkeypatch.setattr(signals, "hold_back", lambda: None)
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 1
    assert f"try: {said}" in capsys.readouterr().err


def test_under_nohup_a_hangup_is_nothing(tmp_path: Path) -> None:
    told = tmp_path / "told"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(["nohup", *words(told, "read")], **pipes) as process:  # type: ignore[call-overload]
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        process.communicate(b"on\n")
    assert told.read_text() == "went on"
