"""Leftovers of this machine's dead runs on the inventory's hosts, found there by its mark."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

from tare.errors import TareError
from tare.machines.inventory.read import named_inventory
from tare.machines.ssh import Connection, HostError
from tare.runtimes.ssh.names import owner

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.machines.inventory.host import Host, Inventory

_KINDS = {
    "process": "processes",
    "unit": "units",
    "part": "partial files",
    "container": "containers",
    "volume": "volumes",
    "network": "networks",
}
"""kinds of leftovers, and their plural"""
_WITHIN_S = 60.0


@dataclass
class HostLeftovers:
    """By host, the lines that its search printed."""

    found: dict[Host, list[str]] = field(default_factory=dict)
    unseen: list[TareError] = field(default_factory=list)
    """of hosts that do not answer: their leftovers are not known"""

    def words(self) -> dict[str, list[str]]:
        """What was found, by kind, for people."""
        told: dict[str, list[str]] = {}
        for host, lines in self.found.items():
            for line in lines:
                kind, _, rest = line.partition(" ")
                told.setdefault(f"{_KINDS[kind]} of hosts", []).append(f"{rest} ({host.name})")
        return told


def leftovers(
    inventory: Inventory | None = None, connect: Callable[[Host], Connection] = Connection
) -> HostLeftovers:
    """Look for leftovers on every host of the inventory that is named here, or of this one.

    All hosts are searched at once, because a search waits for one that is gone. Brought files
    stay: they are verified whenever they are used again.
    """
    if inventory is None:
        inventory = named_inventory()
    hosts = inventory.hosts if inventory else ()
    made = HostLeftovers()
    with ThreadPoolExecutor(max_workers=len(hosts) or 1) as pool:
        told = pool.map(lambda one: _lines(connect(one)), hosts)
        for host, lines in zip(hosts, told, strict=True):
            if isinstance(lines, TareError):
                made.unseen.append(lines)
            elif lines:
                made.found[host] = lines
    return made


def _lines(connection: Connection) -> list[str] | TareError:
    """The output of the search on one host, or why there is none."""
    script = (files(__package__) / "find.sh").read_text(encoding="ascii")
    place = str(connection.host.directory)
    try:
        done = connection.script(script, place, owner(), within_s=_WITHIN_S)
        lines = done.out.decode(errors="replace").splitlines()
        if done.status != 0:
            raise connection.failed("find.sh", done)
    except TareError as error:
        return error
    finally:
        connection.close()
    return [line for line in lines if line.partition(" ")[0] in _KINDS]


def remove(
    found: HostLeftovers, connect: Callable[[Host], Connection] = Connection
) -> list[TareError]:
    """Remove what was found; what could not be removed, and hosts that could not be searched."""
    faults = list(found.unseen)
    script = (files(__package__) / "remove.sh").read_text(encoding="ascii")
    for host, lines in found.found.items():
        connection = connect(host)
        try:
            done = connection.script(script, *lines, within_s=_WITHIN_S)
            if done.err:
                raise HostError(
                    "not all could be removed",
                    where=str(host),
                    why=done.why,
                    remedy="fix that on the host, then tare clean again",
                )
        except TareError as error:
            faults.append(error)
        finally:
            connection.close()
    return faults
