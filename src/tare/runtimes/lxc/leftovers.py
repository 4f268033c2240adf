"""Leftovers of dead runs in LXC: containers and their control groups, and bridges, by label."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import psutil

from tare.runtimes.left import Left
from tare.runtimes.lxc import bridge, groups
from tare.runtimes.native import runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tare.errors import TareError

_WAIT_S = 10.0
_BRIDGES = "LXC bridges"
_GROUPS = "control groups of LXC's containers"


def left() -> Left | None:
    """All leftovers of dead runs; None: this user cannot have made anything."""
    if os.geteuid() != 0:
        return None
    found, bridges = groups.leftovers(), bridge.leftovers()
    words = {_BRIDGES: bridges, _GROUPS: [str(one) for one in found]}
    return Left(words, lambda: _remove(found, bridges), remain=lambda: _remain(found, bridges))


def _remove(found: Sequence[Path], bridges: Sequence[str]) -> list[TareError]:
    """End the containers, whose processes hold everything else, and remove it."""
    processes = []
    for pid in groups.members(found):
        with contextlib.suppress(psutil.Error):  # gone meanwhile
            processes.append(psutil.Process(pid))
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs([one for one in processes if runs(one)], timeout=_WAIT_S)
    groups.remove_left(found)
    for name in bridges:
        bridge.remove(name)
    return []


def _remain(found: Sequence[Path], bridges: Sequence[str]) -> dict[str, list[str]]:
    here = bridge.leftovers()
    return {
        _BRIDGES: [one for one in bridges if one in here],
        _GROUPS: [str(one) for one in found if one.exists()],
    }
