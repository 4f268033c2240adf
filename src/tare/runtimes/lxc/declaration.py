"""The declaration of LXC's containers of this machine, which show the machine's own files."""

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


class Lxc(Declaration):
    """A container that root starts with lxc-execute."""

    name = "lxc"
    noun = "an LXC container"
    in_place = True
    networks = ("bridge", "host")
    endpoints = ("", "loopback", "bridge")
    several_on = "bridge"
    bridged_here = True
    proposed = ("bridge", "directory")
    unit_s = 0.5
    near = (
        *(("docker", 0.3), ("podman", 0.3)),
        *(("swarm", 0.7), ("kubernetes", 0.7)),
    )

    def engine_in_words(self, facts: Mapping[str, Any]) -> str:
        version = facts.get("version")
        return f"LXC {version}" if version else ""

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        from tare.runtimes.lxc.runtime import LxcRuntime

        return LxcRuntime(run, work, pool, routable=routable)

    def fault(self) -> str | None:
        seen = self.seen()
        return None if seen.ok else f"{seen.says} ({seen.remedy})"

    def seen(self) -> Seen:
        from tare.runtimes.lxc.program import usable

        try:
            return Seen(True, usable().words)
        except RuntimeUnavailableError as error:
            return Seen(False, f"{error.what}: {error.why}", error.remedy)

    def left(self) -> Left | None:
        from tare.runtimes.lxc import leftovers

        return leftovers.left()


DECLARED = Lxc()
