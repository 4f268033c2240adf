"""Where units cannot be driven in slices, as far as is known before any is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.runtimes.key import SSH

if TYPE_CHECKING:
    from tare.machines.inventory.host import Inventory
    from tare.study.schema import Setup


def unsliced(setup: Setup, *, kubelet: bool, swarm: bool, inventory: Inventory | None) -> str:
    """Why a setup's units cannot be driven in slices where they run; empty: nothing is known.

    What only the units themselves tell, such as how well a host's clock is known, a run finds out.

    Args:
        kubelet: a node of the Kubernetes cluster runs on this machine.
        swarm: every engine of the Swarm is this machine's.
        inventory: the hosts that are named here; None: the setup needs none, or none are.
    """
    runtimes = {setup.platform.runtime, setup.client.runtime}
    if "kubernetes" in runtimes and not kubelet:
        return "pods run on other machines, whose CPU time is not read within a slice"
    if "swarm" in runtimes and not swarm:
        return "tasks run on other machines, whose CPU time is not read within a slice"
    if inventory is not None:
        own = inventory.nodes_of(setup.platform.hosts) if setup.platform.machines == SSH else ()
        own += inventory.clients if setup.client.machines == SSH else ()
        coarse = [one.name for one in own if not (one.sudo or one.user == "root")]
        if coarse:
            return (
                f"{', '.join(coarse)}: the inventory names neither user root nor sudo, without "
                "which CPU time there is counted too coarsely"
            )
    return ""
