"""Writes files as a whole: a crash leaves the old one or the new one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file as a whole: a reader sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_aside(path))
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, str):
                content = content.encode("utf-8", errors="replace")
            file.write(content)
        aside.chmod(0o644)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def is_aside(path: Path, of: Path) -> bool:
    """Whether a kill may have left this while that file was written."""
    return path.parent == of.parent and path.name.startswith(_aside(of))


def _aside(path: Path) -> str:
    return f".{path.name}."
