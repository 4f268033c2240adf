"""Units from files where they lie, here or on a host: nothing is built, and no engine is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tare.runtimes.images import Say
    from tare.runtimes.unit import Unit


class InPlaceRuntime:
    """Common part of these units' runtimes; see `unit.Runtime`."""

    def probe(self) -> str | None:
        return None

    def images(self) -> None:
        return None

    def prepare(self, say: Say) -> None:
        pass

    def environment(self) -> dict[str, Any]:
        return {}


class InPlaceRunning:
    """Common part of these units while they run; see `unit.Running`."""

    unit: Unit

    def packet_path(self) -> str:
        return self.unit.site.path

    def facts(self) -> dict[str, str]:
        return {}
