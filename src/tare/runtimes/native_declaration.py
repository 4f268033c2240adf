"""What is true of processes of a machine, made of files where they lie."""

from __future__ import annotations

from tare.runtimes.declaration import Declaration, Seen


class Native(Declaration):
    """A process with a control group of its own."""

    name = "native"
    in_place = True
    on_hosts = True
    endpoints = ("", "loopback")
    client_networks = ("host",)
    limited_by_root = "limits of a native process need root, for its control group"
    noun = "a native process"

    def seen(self) -> Seen:
        return Seen(True, "processes of this machine")


DECLARED = Native()
