"""One run at a time holds the lab, and a dead one never does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tare.errors import LabBusyError
from tare.lab.hold import Hold


def test_a_second_run_is_refused_and_told_who_holds_the_lab(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with Hold("first", path), pytest.raises(LabBusyError) as refused, Hold("second", path):
        pass
    assert f"process {os.getpid()} runs first" in str(refused.value)


def test_the_lab_is_free_again_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with Hold("first", path):
        pass
    with Hold("second", path):
        pass


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    script = (
        "import os, sys; from pathlib import Path; from tare.lab.hold import Hold\n"
        "Hold('dead', Path(sys.argv[1])).__enter__(); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -9
    with Hold("next", path):
        pass


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic"), Hold("run", tmp_path / "lock"):
        pass
    assert (tmp_path / "precious").read_text() == "kept"
