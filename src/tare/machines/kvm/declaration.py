"""What is true of virtual machines that QEMU makes here, in KVM or emulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.machines.declaration import MachinesDeclaration, MachinesSeen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tare.machines.declaration import Missing
    from tare.machines.inventory.host import Inventory
    from tare.machines.kvm.made import MadeDomains
    from tare.runtimes.left import Left
    from tare.runtimes.obstacle import Obstacle
    from tare.study.domains import Domains
    from tare.study.platform import Platform
    from tare.study.schema import Setup


class Kvm(MachinesDeclaration):
    """Virtual machines that are made on this machine for a run."""

    name = "kvm"
    title = "KVM"
    in_words = "virtual ones that KVM makes on this one, one for each node, as large as the limits"
    made = True
    guest = True
    makers = ("QEMU",)
    unsliced = (
        "virtual machines made here cannot be driven in slices",
        "what QEMU uses is not told from other programs within a slice",
    )
    no_proposal = (
        "proposals name no virtual machines. studies/virtual-machines.yaml compares this "
        "machine, one of KVM's on it, and Docker inside that: give it your database and load "
        "(docs/virtual-machines.md)"
    )

    def group(self, platform: Platform) -> str:
        limits, domain = platform.limits, platform.domain
        usual = type(domain)()
        parts = [self.name]
        parts += [f"{limits.cpus:g}cpus"] if limits.cpus is not None else []
        parts += [f"on{limits.cpuset.replace(',', '.')}"] if limits.cpuset is not None else []
        parts += [f"{limits.memory >> 20}MiB"] if limits.memory is not None else []
        parts += [domain.cache] if domain.cache != usual.cache else []
        parts += [domain.format] if domain.format != usual.format else []
        return "-".join(parts)

    def obstacles(
        self,
        setup: Setup,
        part: str,
        inventory: Inventory | None,
        missing: Callable[[str], Missing | None],
    ) -> Iterator[Obstacle]:
        from tare.machines.nodes_apart import as_hosts, not_brought
        from tare.runtimes.obstacle import Obstacle
        from tare.runtimes.registry import declared

        runtime = declared(setup.platform.runtime)
        if not runtime.on_hosts:
            why = f"this version makes no virtual machines for {runtime.name}"
            yield Obstacle(("platform", "machines"), why, as_hosts())
        elif (gone := missing(self.name)) is not None:
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

    def missing(self) -> Missing | None:
        from tare.machines.kvm.missing import missing

        return missing()

    def seen_to_be(self) -> str:
        from tare.machines.kvm.missing import kind

        return kind()

    def seen(self) -> MachinesSeen:
        from tare.machines.kvm import qemu

        gone = self.missing()
        if gone is not None:
            return MachinesSeen(False, gone.why, gone.remedy)
        untried = "can be made; whether KVM works here is tried when a run first makes one"
        return MachinesSeen(True, f"QEMU {qemu.version()}: {self.seen_to_be() or untried}")

    def in_plan(self) -> Iterator[str]:
        from tare.machines.kvm.kinds import EMULATED

        untried = "whether KVM works here is tried when the run begins; else they are emulated"
        told = self.seen_to_be()
        yield f"virtual machines, made for the run: {told or untried}"
        if told.startswith(EMULATED):
            yield "  what is measured in them is QEMU's emulation, not KVM's cost"

    def make(self, run: str, wanted: Sequence[Domains], say: Callable[[str], None]) -> MadeDomains:
        from tare.machines.kvm.made import domains_for

        return domains_for(run, wanted, say)

    def recorded(self, record: Mapping[str, Any]) -> bool:
        return "accelerator" in record

    def made_in_words(self, record: Mapping[str, Any]) -> str:
        return "emulated by QEMU, so not KVM" if self.emulated(record) else "by KVM"

    def emulated(self, record: Mapping[str, Any]) -> bool:
        from tare.machines.kvm.kinds import TCG

        return record.get("accelerator") == TCG

    def left(self) -> Left | None:
        from tare.machines.kvm import left

        return left.left()


DECLARED = Kvm()
