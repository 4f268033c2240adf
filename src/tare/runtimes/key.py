"""By which name a part of a setup finds its runtime: where the machines come from, and how they run
a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.study.schema import Client, Platform

SSH = "ssh"


def runtime_key(part: Platform | Client) -> str:
    """native, docker, swarm, kubernetes; on hosts that SSH reaches ssh-native or ssh-docker."""
    return f"{SSH}-{part.runtime}" if part.machines == SSH else part.runtime
