"""What was found of the paths to an orchestrator's units, so that each is checked once in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from tare.errors import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tare.study.platform import Platform


class Seen(Protocol):
    """What was seen of one path."""

    @property
    def words(self) -> str:
        """What packets pass through, in words."""
        ...


S = TypeVar("S", bound=Seen)


class PathResults(Generic[S]):
    """Results by platform, size, port and clients; a path that failed fails again without a try."""

    def __init__(self) -> None:
        self._results: dict[tuple[Any, ...], S | RuntimeUnavailableError] = {}
        self._latest: dict[str, S] = {}

    def once(
        self,
        platform: Platform,
        nodes: int,
        port: int,
        clients: Collection[str],
        check: Callable[[], S],
    ) -> S:
        """What the check finds, or found before.

        Raises:
            RuntimeUnavailableError: of the check, now or before.
        """
        placed = platform.placement.model_dump_json()
        key = (platform.network, placed, nodes, port, tuple(sorted(clients)))
        if key not in self._results:
            try:
                self._results[key] = check()
            except RuntimeUnavailableError as error:
                if error.where == "platform.network":  # of the path; what else failed may pass
                    self._results[key] = error
                raise
        found = self._results[key]
        if isinstance(found, RuntimeUnavailableError):
            raise found
        self._latest[platform.network] = found
        return found

    def latest(self, network: str) -> S | None:
        """What was seen last of such an endpoint; None: nothing was."""
        return self._latest.get(network)

    def words(self, network: str) -> str:
        """What packets to such an endpoint pass through; its name alone where nothing was seen."""
        found = self.latest(network)
        return found.words if found else network
