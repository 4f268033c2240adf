"""Gives hosts over SSH what they need before the first trial: files, or images made there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from tare.artifacts import image
from tare.artifacts.binaries import find
from tare.errors import RuntimeUnavailableError
from tare.load.client import ClientInstallation
from tare.machines.inventory.host import NONE_NAMED, Inventory
from tare.machines.inventory.read import named_inventory
from tare.runtimes.key import declaration_of
from tare.runtimes.ssh.alike import one_image, one_place
from tare.runtimes.ssh.hosts import Hosts
from tare.runtimes.unit import Bits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tare.artifacts.binaries import Binary
    from tare.machines.declaration import MadeMachines
    from tare.runtimes.ssh.host_machine import HostMachine
    from tare.study.schema import Setup

_PROGRAMS: Mapping[str, tuple[Binary, str]] = {
    "load": ("tare-load", image.LOAD),
    "stub": ("tare-stub", image.STUB),
}


def hosts_for(run: str, setups: Sequence[Setup], made: MadeMachines | None = None) -> Hosts | None:
    """The inventory's hosts for a run, and virtual machines made for it; None: no setup needs any.

    Args:
        made: virtual machines for the run; none of them needs to run yet.

    Raises:
        RuntimeUnavailableError: a setup needs hosts, and no inventory is named.
    """
    named = any(part.source.from_inventory for one in setups for part in (one.platform, one.client))
    inventory = named_inventory() if named else None
    if named and inventory is None:
        raise RuntimeUnavailableError(
            NONE_NAMED,
            remedy="name one with TARE_INVENTORY (docs/machines.md)",
        )
    if made is not None:
        own = tuple(one.host for one in made.machines.values())
        inventory = replace(inventory or Inventory(made.directory, ()), made=own)
    if inventory is None:
        return None
    hosts = Hosts(inventory, run, made=made)
    hosts.use(
        dict.fromkeys(one.platform.group for one in setups if one.platform.over_ssh),
        clients=any(one.client.source.from_inventory for one in setups),
    )
    return hosts


def client(
    hosts: Hosts, digest: str, runtime: str, say: Callable[[str], None]
) -> ClientInstallation:
    """The load generator on all hosts for clients.

    Raises:
        RuntimeUnavailableError: a host cannot have it.
    """
    path, tag = program(hosts.clients, "load", runtime, say)
    return ClientInstallation(path, Bits(digest, tag))


def program(
    machines: Iterable[HostMachine],
    name: Literal["load", "stub"],
    runtime: str,
    say: Callable[[str], None],
) -> tuple[str, str]:
    """One of Tare's programs on some hosts: its path as units see it, and the name of its image.

    The name is empty where there is no image, because units are made of files where they lie.

    Raises:
        RuntimeUnavailableError: a host cannot have it.
    """
    binary, shown = _PROGRAMS[name]
    if declaration_of(runtime).in_place:
        return str(one_place({one.provide(binary, say) for one in machines})), ""
    found = find(binary)
    return shown, one_image(
        machines, lambda own, told: image.build_program_image(own, name, found, told), say
    )
