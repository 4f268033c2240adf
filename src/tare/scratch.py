"""Temporary directories that name their process, so that a killed command's can be removed."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from tare import starter

_BEFORE, _AFTER = "tare-", "@"


def make(purpose: str) -> Path:
    """A new temporary directory of this process, for this purpose (small letters)."""
    return Path(tempfile.mkdtemp(prefix=_prefix(purpose)))


def directory(purpose: str) -> tempfile.TemporaryDirectory[str]:
    """Such a directory as a context manager, which gives its name and removes it at the end."""
    return tempfile.TemporaryDirectory(prefix=_prefix(purpose))


def leftovers() -> list[Path]:
    """This user's directories that ended processes have left behind, sorted."""
    found = []
    for path in Path(tempfile.gettempdir()).glob(f"{_BEFORE}*{_AFTER}*"):
        made_by = path.name.rpartition(_AFTER)[2].rpartition(".")[0]
        pid = made_by.partition("-")[0]
        if pid != str(os.getpid()) and starter.without_owner(made_by) and _is_own(path):
            found.append(path)
    return sorted(found)


def remove(path: Path) -> None:
    """Remove a directory and its content; links inside are not followed."""
    shutil.rmtree(path, ignore_errors=True)


def _prefix(purpose: str) -> str:
    return f"{_BEFORE}{purpose}{_AFTER}{starter.mark()}."


def _is_own(path: Path) -> bool:
    return not path.is_symlink() and path.is_dir() and path.stat().st_uid == os.geteuid()
