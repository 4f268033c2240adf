"""Marks of everything of Tare's on a host: whose it is, and of which run."""

from __future__ import annotations

import hashlib
import os

from tare.machines.identity import identity

MARK_VARIABLE = "TARE_HOST_RUN"
"""environment variable of every process that Tare starts on a host: its mark"""
MARK_LABEL = "tare.host-run"
"""label of containers, volumes and networks on a host: their mark"""
GROUPS = "tare-ssh"
"""control groups on a host are below this"""


def owner() -> str:
    """This machine and user, to tell them apart on a host that several use."""
    text = f"{identity()}/{os.getuid()}"
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def mark_of(run: str) -> str:
    """The mark of everything that this machine starts on hosts for a run."""
    return f"{owner()}.{run}"
