"""What is true of containers that root starts with this machine's Podman."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError
from tare.runtimes.declaration import Declaration, Seen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tare.machines.addresses import AddressPool
    from tare.runtimes.left import Left
    from tare.runtimes.unit import Runtime


_NAME = "podman"
_OCI = ("crun", "runc")


class Podman(Declaration):
    """A container of this machine's Podman. It has no userland proxy where root starts it."""

    networks = ("host", "bridge", "published")
    endpoints = ("", "loopback", "bridge", "published")
    storages = ("directory", "volume", "layer")
    several_on = "bridge"
    proposed = ("bridge", "volume")
    unit_s = 1.0
    local_images = True
    in_engine = ("volume", "layer")

    def __init__(self, oci: str = "") -> None:
        """Declare it.

        Args:
            oci: the program that makes containers; empty: as Podman is set up.
        """
        self.oci = oci
        self.name = f"{_NAME}-{oci}" if oci else _NAME
        self.variant_of = _NAME if oci else ""
        others = (_NAME, *(f"{_NAME}-{one}" for one in _OCI[: _OCI.index(oci)])) if oci else ()
        self.near = (
            *(("docker", 0.3), ("swarm", 0.7), ("kubernetes", 0.7)),
            *((one, 0.1) for one in others),
        )

    @property
    def made_storages(self) -> tuple[str, ...]:
        return "volume", "directory"

    def engine_in_words(self, facts: Mapping[str, Any]) -> str:
        version, oci = facts.get("version"), facts.get("OCI runtime")
        return f"Podman {version} with {oci}" if version else ""

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        from tare.runtimes.podman.runtime import PodmanRuntime

        return PodmanRuntime(self, run, work, pool, routable=routable)

    def dns_name(self, run: str, unit: str) -> str:
        from tare.runtimes.docker import container_name

        return container_name(run, unit)

    def fault(self) -> str | None:
        from tare.runtimes.podman import engine

        try:
            engine.usable(oci=self.oci)
        except RuntimeUnavailableError as error:
            return f"{error.what}: {error.why} ({error.remedy})"
        return None

    def seen(self) -> Seen:
        from tare.runtimes.podman import engine

        try:
            return Seen(True, engine.usable(oci=self.oci).words)
        except RuntimeUnavailableError as error:
            return Seen(False, f"{error.what}: {error.why}", error.remedy)

    def store(self) -> Path | None:
        from tare.runtimes.podman import engine

        try:
            return engine.usable(oci=self.oci).store
        except RuntimeUnavailableError:
            return None

    def left(self) -> Left | None:
        from tare.runtimes.podman import leftovers

        return None if self.variant_of else leftovers.left()  # one finds what all left


DECLARED = (Podman(), *map(Podman, _OCI))
