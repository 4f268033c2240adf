"""What is true of the tasks of the Docker Swarm that is named here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.runtimes.declaration import Declaration

if TYPE_CHECKING:
    from tare.study.platform import Platform


class Swarm(Declaration):
    """A task of a service."""

    name = "swarm"
    orchestrator = True
    networks = ("host", "host-port", "node-port", "service-ip", "container-dns")
    endpoints = ("", "host-port", "node-port", "service-ip", "container-dns")
    storages = ("volume", "layer")
    plugins = ("", "overlay", "docker-gwbridge", "weave")
    several_on = "container-dns"
    inside_only = ("service-ip", "container-dns")
    proposed = ("host-port", "volume")
    near = (("kubernetes", 0.4),)
    unit_s = 4.0  # with its service, and its part of proving the path
    title = "Swarm"

    def data_out_of_reach(self, platform: Platform, *, here: bool) -> str:
        if platform.storage == "layer":
            return "nothing but the task's own software reaches its container's writable layer"
        if platform.placement.spread == "none" and platform.network != "host":
            return "the Swarm chooses its node when it starts: platform.placement.spread is none"
        if here and not _names_engines():
            return (
                "the file of TARE_SWARM names no engines, through which nodes could be given data"
            )
        return ""


def _names_engines() -> bool:
    from tare.runtimes.swarm.settings import names_engines

    return names_engines()


DECLARED = Swarm()
