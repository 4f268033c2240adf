"""One run at a time holds the lab, and a dead one never does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.errors import LabBusyError, RuntimeUnavailableError
from tare.lab.run_lock import IMAGE_VARIABLE, RunLock, refuse_unshared


def test_a_second_run_is_refused_and_told_who_holds_the_lab(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with RunLock("first", path), pytest.raises(LabBusyError) as refused, RunLock("second", path):
        pass
    assert f"process {os.getpid()} runs first" in str(refused.value)


def test_the_lab_is_free_again_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with RunLock("first", path):
        pass
    with RunLock("second", path):
        pass


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    script = (
        "import os, sys; from pathlib import Path; from tare.lab.run_lock import RunLock\n"
        "RunLock('dead', Path(sys.argv[1])).__enter__(); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -9
    with RunLock("next", path):
        pass


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic"), RunLock("run", tmp_path / "lock"):
        pass
    assert (tmp_path / "precious").read_text() == "kept"


def test_the_image_refuses_a_lock_that_only_its_container_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(IMAGE_VARIABLE, "yes")
    with pytest.raises(RuntimeUnavailableError) as refused:
        refuse_unshared(tmp_path, root=tmp_path.parent)
    assert f"-v {tmp_path}:{tmp_path}" in str(refused.value)


def test_the_image_takes_a_lock_that_is_mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(IMAGE_VARIABLE, "yes")
    refuse_unshared(Path("/proc"))


def test_a_lock_beside_all_else_is_refused_in_the_image_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(IMAGE_VARIABLE, raising=False)
    refuse_unshared(tmp_path, root=tmp_path.parent)


def locked_by_nobody(path: Path, umask: int = 0o022) -> subprocess.CompletedProcess[str]:
    """Another user without special rights takes the lab."""
    script = (
        "import os, sys; from pathlib import Path; from tare.lab.run_lock import RunLock\n"
        "import tare.errors\n"
        f"os.umask({umask}); os.setgid(65534); os.setuid(65534)\n"
        "try:\n    RunLock('other', Path(sys.argv[1])).__enter__(); print('held')\n"
        "except tare.errors.TareError as error: print(error)"
    )
    return subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False
    )


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory like /run/lock: all may write, none may remove another's files."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o1777)
        yield Path(directory) / "lock"


only_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root becomes another: sudo make test"
)


@only_root
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_second_user_takes_the_lab_after_a_first_one(shared: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with RunLock("first", shared):
            assert "another run holds this machine" in locked_by_nobody(shared).stdout
    finally:
        os.umask(before)
    assert locked_by_nobody(shared).stdout == "held\n"
    with RunLock("first again", shared):
        pass


@only_root
def test_a_lock_file_that_others_may_only_read_is_enough(shared: Path) -> None:
    shared.write_text("")
    shared.chmod(0o644)
    assert locked_by_nobody(shared).stdout == "held\n"


@only_root
def test_a_lock_file_that_a_user_may_not_open_is_called_so(shared: Path) -> None:
    shared.write_text("")
    shared.chmod(0o600)
    told = locked_by_nobody(shared).stdout
    assert "belongs to root" in told
    assert f"chmod 666 {shared}" in told
