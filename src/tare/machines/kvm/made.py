"""The domains of a run: made and booted together, started again if one is lost, ended."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.all_steps import faults_of, raise_first
from tare.artifacts.tree import default_cache
from tare.errors import RuntimeUnavailableError
from tare.machines.kvm import image as images
from tare.machines.kvm import networks, works
from tare.machines.kvm.domain import Domain
from tare.machines.kvm.missing import missing
from tare.machines.kvm.network import MOST
from tare.machines.kvm.qemu import Shape
from tare.starter import label, labelled_without_owner, labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tare.study.domains import Domains


@dataclass
class MadeDomains:
    """The domains of one run."""

    directory: Path
    machines: dict[str, Domain] = field(default_factory=dict)

    def start(self, say: Callable[[str], None]) -> None:
        """Make their networks and all domains, and come back when all have booted.

        Raises:
            RuntimeUnavailableError: one does not boot.
        """
        for network in dict.fromkeys(one.network for one in self.machines.values()):
            if exposed := network.make():
                say(f"neighbours on the network can reach virtual machines: {exposed}")
        for one in self.machines.values():
            one.make()
            one.start()
        kinds = {str(one.works) for one in self.machines.values()}
        say(f"booting {', '.join(self.machines)} ({'; '.join(kinds)})")
        for one in self.machines.values():
            one.await_up()

    def close(self) -> None:
        """End all domains, and remove their files and their networks.

        Raises:
            TareError: one does not end.
        """
        faults = faults_of(one.end for one in self.machines.values())
        networks.remove()
        shutil.rmtree(self.directory, ignore_errors=True)
        raise_first(faults)


def domains_for(
    run: str, wanted: Sequence[Domains], say: Callable[[str], None], cache: Path | None = None
) -> MadeDomains:
    """The domains for a run, none of which is made yet.

    The image is made if there is none, and KVM is tried if it was not tried since this machine's
    start.

    Raises:
        RuntimeUnavailableError: this machine lacks what they need.
        ArtifactError: the image cannot be made.
    """
    if (gone := missing()) is not None:
        raise RuntimeUnavailableError("no virtual machines here", why=gone.why, remedy=gone.remedy)
    image = images.made(say)
    tried = works.tried(image)
    made = MadeDomains(_place(cache) / label())
    for alike in wanted:
        domain = alike.domain
        disk = (domain.cache, domain.format)
        shape = Shape(alike.cpus, alike.memory, alike.cpuset, *disk, domain.network)
        for place in range(alike.count):
            name, number = f"{alike.group}-{place + 1}", len(made.machines)
            made.machines[name] = Domain(
                *(name, alike.group, number, shape, alike.engine, made.directory / name),
                *(image, tried, labels(run)),
            )
    if len(made.machines) > MOST:
        raise RuntimeUnavailableError(
            f"{len(made.machines)} virtual machines, where {MOST} find an address",
            remedy="measure a part (--only FACTOR=LEVEL)",
        )
    return made


def left(cache: Path | None = None) -> list[Path]:
    """Directories of domains whose process has ended without removing them, sorted."""
    place = _place(cache)
    found = place.iterdir() if place.is_dir() else ()
    return sorted(one for one in found if labelled_without_owner(one.name))


def remove(directory: Path) -> None:
    """Remove one with all that is in it."""
    shutil.rmtree(directory, ignore_errors=True)


def _place(cache: Path | None) -> Path:
    """Place of disks, beside the image on a real disk: a temporary directory may be in memory."""
    return (cache or default_cache()).absolute() / "domains"
