"""The declaration of virtual machines that QEMU makes here, in KVM or emulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.machines.declaration import MachinesDeclaration, Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tare.machines.declaration import Missing
    from tare.machines.kvm.made import MadeDomains
    from tare.runtimes.left import Left
    from tare.study.domains import Domains


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

    def missing(self) -> Missing | None:
        from tare.machines.kvm.missing import missing

        return missing()

    def seen_to_be(self) -> str:
        from tare.machines.kvm.missing import kind

        return kind()

    def seen(self) -> Seen:
        from tare.machines.kvm import qemu

        gone = self.missing()
        if gone is not None:
            return Seen(False, gone.why, gone.remedy)
        untried = "can be made; whether KVM works here is tried when a run first makes one"
        return Seen(True, f"QEMU {qemu.version()}: {self.seen_to_be() or untried}")

    def in_plan(self) -> Iterator[str]:
        from tare.machines.kvm.kinds import EMULATED

        untried = "whether KVM works here is tried when the run begins; else they are emulated"
        told = self.seen_to_be()
        yield f"virtual machines, made for the run: {told or untried}"
        if told.startswith(EMULATED):
            yield "  what is measured in them is QEMU's emulation, not KVM's cost"
            yield "  a server takes minutes to start there: expect more time than is told below"

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
