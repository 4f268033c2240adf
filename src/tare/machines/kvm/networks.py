"""All networks of domains: one of each kind, as one run holds the machine at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.machines import neighbours
from tare.machines.kvm.bridge import Bridge
from tare.machines.kvm.macvtap import Macvtap

if TYPE_CHECKING:
    from tare.machines.kvm.network import Network

NETWORKS: dict[str, Network] = {one.name: one for one in (Bridge(), Macvtap())}
"""by the name that studies use"""


def remove() -> None:
    """Remove those that are there and that no other process has; after the last one neighbours are
    let in again."""
    for one in NETWORKS.values():
        one.remove()
    if not any(one.there() for one in NETWORKS.values()):
        neighbours.let_in()


def left() -> list[str]:
    """Their devices, where these are there and no other process that runs has them."""
    return [name for one in NETWORKS.values() for name in one.left()]
