"""Leftovers of dead runs' virtual machines: their networks, and directories of disks and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.machines.kvm import made, networks
from tare.runtimes.left import Left

if TYPE_CHECKING:
    from pathlib import Path

    from tare.errors import TareError


def left() -> Left | None:
    """It; None: nothing. Their processes carry labels, and are found and ended by those."""
    devices, directories = networks.left(), made.left()
    if not devices and not directories:
        return None

    def remove() -> list[TareError]:
        if devices:
            networks.remove()
        for directory in directories:
            made.remove(directory)
        return []

    def remain() -> dict[str, list[str]]:
        there = [one for one in directories if one.exists()]
        return _words(networks.left() if devices else [], there)

    return Left(_words(devices, directories), remove, remain=remain)


def _words(devices: list[str], directories: list[Path]) -> dict[str, list[str]]:
    return {"networks": devices, "virtual machines": [str(one) for one in directories]}
