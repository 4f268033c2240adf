"""What nodes on separate machines lack: hosts of an inventory or virtual machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.databases import registry as databases
from tare.machines import registry
from tare.runtimes.obstacle import Obstacle
from tare.runtimes.registry import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tare.machines.declaration import Missing
    from tare.study.schema import Setup


def on_made_machines(
    kind: str, setup: Setup, missing: Callable[[str], Missing | None]
) -> Iterator[Obstacle]:
    """What prevents a setup on machines that are made here.

    Args:
        kind: as the study names it.
        missing: why machines of a kind cannot be made.
    """
    runtime = declared(setup.platform.runtime)
    if not runtime.on_hosts:
        why = f"this version makes no virtual machines for {runtime.name}"
        yield Obstacle(("platform", "machines"), why, as_hosts())
    elif (gone := missing(kind)) is not None:
        yield Obstacle(("platform", "machines"), gone.why, gone.remedy)
    yield from not_brought(setup)
    if setup.platform.network in ("bridge", "published"):
        why = "engines of virtual machines that Tare makes have no bridge, and publish no ports"
        remedy = "set platform.network to host"
        if setup.platform.network == "published":
            remedy += "; ports are published on hosts of your own (docs/machines.md)"
        yield Obstacle(("platform", "network"), why, remedy)
    if setup.client.network != "host":
        why = "this version gives clients of virtual machines this machine's own network"
        yield Obstacle(("client", "network"), why, "set client.network to host")


def as_hosts() -> str:
    """The remedy if Tare makes no such machines: existing ones are hosts of a group."""
    of_inventory = " or ".join(registry.having(lambda one: one.from_inventory))
    made = [one for one in registry.registered().values() if one.made]
    instead = [f"{one.title}'s in their place (platform.machines: {one.name})" for one in made]
    return (
        f"have such machines as hosts of a group (platform.machines: {of_inventory} and "
        f"platform.hosts, docs/machines.md), {''.join(f'or {one}, ' for one in instead)}or run the "
        "other conditions once on the physical machine and once inside the virtual one, each by "
        "its own Tare, then `tare compare` both runs"
    )


def not_brought(setup: Setup) -> Iterator[Obstacle]:
    """Hosts get a database's files, from which an image is made there."""
    database = setup.database
    if database.image is not None and not declared(setup.platform.runtime).in_place:
        why = "this version makes its own image on other hosts, and pulls none there"
        remedy = "leave database.image out"
        if not databases.declared(database.kind).locked:
            remedy += ", and set database.home to the directory of its server"
        yield Obstacle(("database", "image"), why, remedy)
