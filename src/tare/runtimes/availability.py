"""Setups that this version cannot run on any machine, each with the reason and the remedy."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tare.databases.registry import declared as declared_database
from tare.machines.declaration import Wanted
from tare.runtimes.obstacle import Obstacle
from tare.runtimes.registry import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tare.machines.declaration import Missing
    from tare.machines.inventory.host import Inventory
    from tare.runtimes.declaration import Named
    from tare.study.schema import Setup

_ELSEWHERE = "measure it with another load generator and bring its files in with `tare import`"


def obstacle(
    setup: Setup,
    named: Mapping[str, Named] = MappingProxyType({}),
    inventory: Inventory | None = None,
    missing: Callable[[str], Missing | None] = lambda name: None,
) -> Obstacle | None:
    """Why this version cannot run this setup; None: it can.

    Args:
        setup: one condition's.
        named: the orchestrators that are named here, by the runtime's name.
        inventory: the hosts that are named here; None: none are.
        missing: why this machine makes no machines of a kind, asked only if the setup needs them.
    """
    found = list(_obstacles(setup))
    for part in ("platform", "client"):
        wanted = Wanted(setup, part, inventory, missing)
        found += getattr(setup, part).source.obstacles(wanted)
    for runtime in dict.fromkeys((setup.platform.runtime, setup.client.runtime)):
        found += declared(runtime).obstacles(setup, named.get(runtime))
    if not found:
        return None
    whys = tuple(dict.fromkeys(one.why for one in found))
    return Obstacle(found[0].field, "; ".join(whys), found[0].remedy, whys)


def _obstacles(setup: Setup) -> Iterator[Obstacle]:
    platform = setup.platform
    yield from declared_database(setup.database.kind).obstacles(setup)
    if platform.endpoint:
        yield from _of_endpoint(setup)
    if platform.address:
        why = f"this version gives machines no {platform.address}"
        yield Obstacle(("platform", "address"), why, _ELSEWHERE)


def _of_endpoint(setup: Setup) -> Iterator[Obstacle]:
    """Only a client that stays where it was told to go keeps to an endpoint."""
    if setup.client.tool != "tare":
        why = f"{setup.client.tool} may go where nodes say they are, not to their "
        why += setup.platform.endpoint
        remedy = "leave platform.endpoint out, or load it with `tare load`"
        yield Obstacle(("client", "tool"), why, remedy)
