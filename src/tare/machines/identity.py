"""Tells this machine apart from others that see the same files or reach the same hosts."""

from __future__ import annotations

import socket
from pathlib import Path


def identity(file: Path = Path("/etc/machine-id")) -> str:
    """The machine's id, or its host name if it has none."""
    try:
        machine = file.read_text(encoding="ascii").strip()
    except OSError:
        machine = ""
    return machine or socket.gethostname()
