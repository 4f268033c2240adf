"""Leftovers of dead runs' virtual machines: their bridge, and directories of disks and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.machines.kvm import made, network
from tare.runtimes.left import Left

if TYPE_CHECKING:
    from pathlib import Path

    from tare.errors import TareError


def left() -> Left | None:
    """It; None: nothing. Their processes carry labels, and are found and ended by those."""
    bridges, directories = network.left(), made.left()
    if not bridges and not directories:
        return None

    def remove() -> list[TareError]:
        if bridges:
            network.remove()
        for directory in directories:
            made.remove(directory)
        return []

    def remain() -> dict[str, list[str]]:
        there = [one for one in directories if one.exists()]
        return _words(network.left() if bridges else [], there)

    return Left(_words(bridges, directories), remove, remain=remain)


def _words(bridges: list[str], directories: list[Path]) -> dict[str, list[str]]:
    return {"bridges": bridges, "virtual machines": [str(one) for one in directories]}
