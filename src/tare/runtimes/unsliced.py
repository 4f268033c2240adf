"""Setups whose units cannot be driven in slices, as far as is known before any is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.runtimes.registry import declared

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.machines.inventory.host import Inventory
    from tare.study.schema import Setup


def unsliced(
    setup: Setup, elsewhere: Callable[[str], bool], inventory: Inventory | None = None
) -> str:
    """Why a setup's units cannot be driven in slices where they run; empty: nothing is known.

    A run finds out what only the units themselves tell, such as how well a host's clock is known.

    Args:
        elsewhere: whether units of a runtime run on other machines than this one.
        inventory: the hosts that are named here; None: the setup needs none, or none are.
    """
    for runtime in dict.fromkeys((setup.platform.runtime, setup.client.runtime)):
        if elsewhere(runtime):
            units = declared(runtime).units
            return f"{units} run on other machines, whose CPU time is not read within a slice"
    if inventory is not None:
        own = (
            inventory.nodes_of(setup.platform.hosts) if setup.platform.source.from_inventory else ()
        )
        own += inventory.clients if setup.client.source.from_inventory else ()
        coarse = [one.name for one in own if not (one.sudo or one.user == "root")]
        if coarse:
            return (
                f"{', '.join(coarse)}: the inventory names neither user root nor sudo, without "
                "which CPU time there is counted too coarsely"
            )
    return ""
