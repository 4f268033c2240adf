"""`tare load` hands everything on: arguments, streams and exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TARE = str(Path(sys.executable).with_name("tare"))


@pytest.fixture
def stand_in(tmp_path: Path) -> dict[str, str]:
    """An environment in which tare-load is a script that prints its input."""
    program = tmp_path / "tare-load"
    program.write_text('#!/bin/sh\nprintf "<%s>" "$@"\ncat\necho trouble >&2\nexit 3\n')
    program.chmod(0o755)
    return {**os.environ, "TARE_BIN_DIR": str(tmp_path)}


def test_words_streams_and_status_are_the_load_generators(stand_in: dict[str, str]) -> None:
    words = ["stress", "write", "n=10", "-rate", "threads=4", "--help", "-p", "a=b c", "--json"]
    done = subprocess.run(
        [TARE, "load", *words],
        input="in",
        capture_output=True,
        text=True,
        env=stand_in,
        check=False,
    )
    assert done.stdout == "".join(f"<{word}>" for word in words) + "in"
    assert (done.stderr, done.returncode) == ("trouble\n", 3)


def test_help_says_what_there_is() -> None:
    done = subprocess.run([TARE, "load", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    for word in ("ycsb", "stress", "find-max", "merge", "run"):
        assert word in done.stdout


def test_nothing_to_do_is_wrong_usage() -> None:
    assert subprocess.run([TARE, "load"], capture_output=True, check=False).returncode == 2


def test_a_missing_binary_is_said_with_the_remedy(tmp_path: Path) -> None:
    environment = {**os.environ, "TARE_BIN_DIR": str(tmp_path)}
    done = subprocess.run(
        [TARE, "load", "run"], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 1
    assert "tare-load is missing" in done.stderr
