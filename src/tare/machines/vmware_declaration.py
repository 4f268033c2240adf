"""The declaration of VMware's machines: studies and findings name them, this version makes none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.machines.declaration import MachinesDeclaration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.machines.declaration import Wanted
    from tare.runtimes.obstacle import Obstacle

_SAME_LOAD = (
    "; give both the same fixed threads or rate (`--scale printed` where the study has it, else in "
    "its file), since each run would search a maximum of its own"
)


class VMware(MachinesDeclaration):
    """Machines of VMware's hypervisors."""

    name = "vmware"
    title = "VMware"
    in_words = "VMware's, which this version cannot make"
    guest = True
    makers = ("VMware, Inc.",)
    no_proposal = (
        "this version makes no VMware machines. Name physical and virtual ones as groups of "
        "an inventory (platform.hosts, docs/machines.md), or run a study on the physical machine "
        "and once more inside the virtual one, then `tare compare` both runs"
    )

    def obstacles(self, wanted: Wanted) -> Iterator[Obstacle]:
        from tare.machines.nodes_apart import as_hosts
        from tare.runtimes.obstacle import Obstacle

        why = f"this version makes no {self.title} machines"
        remedy = as_hosts() + (_SAME_LOAD if wanted.setup.load.sought is not None else "")
        yield Obstacle(("platform", "machines"), why, remedy)


DECLARED = VMware()
