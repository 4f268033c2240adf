"""The declaration of containers that root starts with this machine's Podman."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError
from tare.runtimes.docker_family import EngineDeclaration

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tare.machines.addresses import AddressPool
    from tare.runtimes.left import Left
    from tare.runtimes.unit import Runtime


_NAME = "podman"
_OCI = ("crun", "runc")


class Podman(EngineDeclaration):
    """A container of this machine's Podman. It has no userland proxy if root starts it."""

    endpoints = ("", "loopback", "bridge", "published")

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

    def engine_in_words(self, facts: Mapping[str, Any]) -> str:
        version, oci = facts.get("version"), facts.get("OCI runtime")
        return f"Podman {version} with {oci}" if version else ""

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        from tare.runtimes.podman.runtime import PodmanRuntime

        return PodmanRuntime(self, run, work, pool, routable=routable)

    def usable(self) -> str:
        from tare.runtimes.podman import engine

        return engine.usable(oci=self.oci).words

    def store(self) -> Path | None:
        from tare.runtimes.podman import engine

        try:
            return engine.usable(oci=self.oci).store
        except RuntimeUnavailableError:
            return None

    def left(self) -> Left | None:
        from tare.runtimes.podman import leftovers

        return None if self.variant_of else leftovers.left()  # one finds all variants' leftovers


DECLARED = (Podman(), *map(Podman, _OCI))
