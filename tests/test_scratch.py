"""Temporary directories of killed commands are found, but never those of live ones or others."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tare import scratch, starter

MAKE = "from tare import scratch; print(scratch.make('native'), flush=True); input()"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_killed_commands_directory_is_found_once_it_is_dead() -> None:
    command = [sys.executable, "-c", MAKE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        made = Path(process.stdout.readline().decode().strip())
        (made / "library.so").write_text("unpacked")
        assert scratch.leftovers() == []
        process.kill()
        process.wait()
    assert scratch.leftovers() == [made]
    scratch.remove(made)
    assert not made.exists()


def test_ones_own_goes_by_itself_and_is_no_leftover() -> None:
    with scratch.directory("native") as place:
        assert Path(place).is_dir()
        assert scratch.leftovers() == []
    assert not Path(place).exists()


def test_directories_of_others_are_never_found(temporary: Path) -> None:
    dead = starter.mark().replace(starter.mark().split("-")[1], "1", 1)
    (temporary / "tare-native-x1y2z3").mkdir()
    (temporary / "tare-thesis@2026.final").mkdir()
    (temporary / "target").mkdir()
    (temporary / f"tare-native@999999-{dead.partition('-')[2]}.linked").symlink_to("target")
    assert scratch.leftovers() == []
