"""Which commit `tare --version` names."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tare.commit import commit


def test_a_wheel_carries_its_commit(tmp_path: Path) -> None:
    (tmp_path / "commit.txt").write_text("0123456789ab\n")
    assert commit(tmp_path / "commit.txt", tmp_path) == "0123456789ab"


def test_a_checkout_names_its_commit_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True, capture_output=True)

    file = tmp_path / "file"
    file.write_text("one")
    git("init")
    git("add", "file")
    git("commit", "-m", "first")
    git("tag", "v1")
    clean = commit(tmp_path / "none", tmp_path)
    assert clean is not None
    assert re.fullmatch("[0-9a-f]{12}", clean)
    file.write_text("two")
    assert commit(tmp_path / "none", tmp_path) == f"{clean}-dirty"


def test_elsewhere_the_commit_is_not_known(tmp_path: Path) -> None:
    assert commit(tmp_path / "none", tmp_path) is None
