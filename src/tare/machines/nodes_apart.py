"""What nodes on machines of their own have not, hosts of an inventory or virtual ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.machines import registry
from tare.runtimes.obstacle import Obstacle
from tare.runtimes.registry import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tare.machines.declaration import Missing
    from tare.study.schema import Setup


def on_own_machines(setup: Setup) -> Iterator[Obstacle]:
    """What hinders a setup wherever each of its nodes has a machine."""
    yield from _not_brought(setup)
    if setup.platform.network == "published":
        why = "this version publishes no container's ports on other hosts"
        remedy = "set platform.network to host; to measure published ports run all nodes on one "
        remedy += f"machine, and Tare there (platform.machines: {registry.HERE})"
        yield Obstacle(("platform", "network"), why, remedy)


def on_made_machines(
    kind: str, setup: Setup, missing: Callable[[str], Missing | None]
) -> Iterator[Obstacle]:
    """What hinders a setup on machines that are made here.

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
    yield from on_own_machines(setup)
    if setup.platform.network == "bridge":
        why = "this version has no way to a container's own address in a virtual machine"
        yield Obstacle(("platform", "network"), why, "set platform.network to host")
    if setup.client.network != "host":
        why = "this version gives clients of virtual machines this machine's own network"
        yield Obstacle(("client", "network"), why, "set client.network to host")


def as_hosts() -> str:
    """What helps where Tare makes no such machines: others' are hosts of a group."""
    of_inventory = " or ".join(registry.having(lambda one: one.from_inventory))
    made = [one for one in registry.registered().values() if one.made]
    instead = [f"{one.title}'s in their place (platform.machines: {one.name})" for one in made]
    return (
        f"have such machines as hosts of a group (platform.machines: {of_inventory} and "
        f"platform.hosts, docs/machines.md), {''.join(f'or {one}, ' for one in instead)}or run the "
        "other conditions once on the physical machine and once inside the virtual one, each by "
        "its own Tare, then `tare compare` both runs"
    )


def _not_brought(setup: Setup) -> Iterator[Obstacle]:
    """Of databases, hosts are brought files, of which an image is made there."""
    database = setup.database
    if database.image is not None and not declared(setup.platform.runtime).in_place:
        why = "this version makes its own image on other hosts, and pulls none there"
        remedy = "leave database.image out"
        if database.kind == "mongodb":
            remedy += ", and set database.home to the directory of a mongod"
        yield Obstacle(("database", "image"), why, remedy)
