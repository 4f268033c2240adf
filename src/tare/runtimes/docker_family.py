"""Common declaration of containers that an engine of this machine runs, Docker or a similar one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.runtimes.declaration import Declaration, Seen
from tare.runtimes.obstacle import Obstacle

if TYPE_CHECKING:
    from pathlib import Path

PUBLISHED_NEEDS_ROOT = Obstacle(
    ("platform", "endpoint"),
    "DNAT needs a host address that only root can add",
    "run as root, or set platform.endpoint to bridge",
)


class EngineDeclaration(Declaration, ABC):
    """A container of an engine of this machine, Docker or one with Docker's API."""

    networks: tuple[str, ...] = ("host", "bridge", "published")
    endpoints: tuple[str, ...] = ("", "loopback", "bridge", "published", "proxy")
    storages: tuple[str, ...] = ("directory", "volume", "layer")
    several_on = "bridge"
    bridged_here = True
    proposed = ("bridge", "volume")
    unit_s = 1.0
    local_images = True
    in_engine = ("volume", "layer")

    @property
    def made_storages(self) -> tuple[str, ...]:
        return "volume", "directory"

    @abstractmethod
    def usable(self) -> str:
        """What it is, for `tare doctor`.

        Raises:
            RuntimeUnavailableError: it cannot be used here.
        """

    def dns_name(self, run: str, unit: str) -> str:
        from tare.runtimes.docker import container_name

        return container_name(run, unit)

    def fault(self) -> str | None:
        try:
            self.usable()
        except RuntimeUnavailableError as error:
            return f"{error.what}: {error.why} ({error.remedy})"
        return None

    def seen(self) -> Seen:
        try:
            return Seen(True, self.usable())
        except RuntimeUnavailableError as error:
            return Seen(False, f"{error.what}: {error.why}", error.remedy)

    def store(self) -> Path | None:
        from tare.runtimes.docker_engine import data_directory

        return data_directory()
