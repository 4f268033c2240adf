"""The commit that this Tare was made from."""

from __future__ import annotations

import subprocess
from pathlib import Path

_FILE = Path(__file__).with_name("commit.txt")
"""written into a wheel when it is built"""
_CHECKOUT = Path(__file__).parents[2]


def commit(file: Path = _FILE, checkout: Path = _CHECKOUT) -> str | None:
    """The commit's first twelve digits, with -dirty if files differ from it; None: unknown.

    An installed wheel has the commit in a file; in a checkout, git says it.
    """
    if file.is_file():
        return file.read_text(encoding="utf-8").strip()
    if not (checkout / ".git").exists():
        return None
    # --exclude: the commit alone, whatever tags there are
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        told = subprocess.run(
            [*command, "--exclude=*"], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return told.stdout.strip() or None
