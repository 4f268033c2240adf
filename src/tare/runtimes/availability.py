"""Setups that this version cannot run on any machine, each with the reason and the remedy."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

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
    """What hinders this setup in this version; None where nothing does.

    Args:
        setup: one condition's.
        named: the orchestrators that are named here, by the runtime's name.
        inventory: the hosts that are named here; None: none are.
        missing: why this machine makes none of a kind, asked only if the setup needs them.
    """
    found = list(_obstacles(setup))
    for part in ("platform", "client"):
        kind = getattr(setup, part).source
        found += kind.obstacles(setup, part, inventory, missing)
    for runtime in dict.fromkeys((setup.platform.runtime, setup.client.runtime)):
        found += declared(runtime).obstacles(setup, named.get(runtime))
    if not found:
        return None
    whys = tuple(dict.fromkeys(one.why for one in found))
    return Obstacle(found[0].field, "; ".join(whys), found[0].remedy, whys)


def _obstacles(setup: Setup) -> Iterator[Obstacle]:
    database, platform = setup.database, setup.platform
    if database.kind == "mongodb":
        yield from _without_server(setup)
        yield from _without_binding(setup)
    if platform.endpoint:
        yield from _of_endpoint(setup)
    if platform.address:
        why = f"this version gives machines no {platform.address}"
        yield Obstacle(("platform", "address"), why, _ELSEWHERE)


def _of_endpoint(setup: Setup) -> Iterator[Obstacle]:
    """An endpoint is kept by a client that stays where it was told to go."""
    if setup.client.tool != "tare":
        why = f"{setup.client.tool} may go where nodes say they are, not to their "
        why += setup.platform.endpoint
        remedy = "leave platform.endpoint out, or load it with `tare load`"
        yield Obstacle(("client", "tool"), why, remedy)


def _without_server(setup: Setup) -> Iterator[Obstacle]:
    """No public package has MongoDB's server: it is the user's own, or an image's, or none.

    The stub stands in for a server that nobody names, and not for one whose image is named: what
    runs in place would be another server than what runs in containers.
    """
    database = setup.database
    if database.home is not None or database.stubbed:
        return
    without = "; without one, database.stand_in: true has the stub in its place, for what the "
    without += "platform costs alone"
    # one reason for both, told once of a study that has both
    why = "MongoDB's server cannot be fetched, and none is named"
    if not declared(setup.platform.runtime).in_place:
        if database.image is None:
            remedy = "set database.image to an image of MongoDB, or database.home to the directory "
            remedy += "of a mongod, of which Tare makes one, then `tare plan` again"
            yield Obstacle(("database", "kind"), why, remedy + without)
    else:
        remedy = "set database.home to the directory of a mongod, then `tare plan` again"
        yield Obstacle(("database", "kind"), why, remedy + without)


def _without_binding(setup: Setup) -> Iterator[Obstacle]:
    """YCSB itself is fetched with its binding for CQL only."""
    if setup.client.tool == "ycsb":
        why = "this version runs YCSB's own client with CQL only"
        remedy = "set client.tool to tare, which sends the same documents, then `tare plan` again"
        yield Obstacle(("client", "tool"), why, remedy)
