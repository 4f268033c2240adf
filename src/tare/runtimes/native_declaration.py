"""The declaration of a machine's processes, made of files where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.runtimes.declaration import Declaration, Seen

if TYPE_CHECKING:
    from pathlib import Path

    from tare.errors import TareError
    from tare.machines.addresses import AddressPool
    from tare.runtimes.left import Left
    from tare.runtimes.ssh.hosts import Hosts
    from tare.runtimes.unit import Runtime


class Native(Declaration):
    """A process with a control group of its own."""

    name = "native"
    in_place = True
    on_hosts = True
    endpoints = ("", "loopback")
    client_networks = ("host",)
    limited_by_root = "limits of a native process need root, for its control group"
    noun = "a native process"

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        from tare.runtimes.native import NativeRuntime

        return NativeRuntime(run, work, pool, routable=routable)

    def make_on_hosts(self, work: Path, hosts: Hosts, group: str) -> Runtime:
        from tare.runtimes.ssh.native import SshNativeRuntime

        return SshNativeRuntime(work, hosts, group)

    def left(self) -> Left:
        from tare.runtimes import native
        from tare.runtimes.left import Left

        found = native.leftovers()

        def remove() -> list[TareError]:
            native.remove(found)
            return []

        return Left(
            {"processes": [str(one.pid) for one in found]},
            remove,
            remain=lambda: {"processes": [str(one.pid) for one in found if native.runs(one)]},
        )

    def seen(self) -> Seen:
        return Seen(True, "processes of this machine")


DECLARED = Native()
