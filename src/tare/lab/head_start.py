"""How long clients wait from launch until all begin: long at first, then twice the need."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.load.client import LoadClient

FOR_EACH_S = 0.5
"""for each client, beside its runtime's own head start, if nothing is known of such clients"""
LEAST_S = 1.0
_TIMES = 2.0
"""A head start is this factor times the longest that such clients needed before in this run."""


class HeadStarts:
    """Head starts of one run, whose blocks have similar clients again and again."""

    def __init__(self) -> None:
        self._needed: dict[tuple[float, int], float] = {}

    def seconds(self, clients: Sequence[LoadClient]) -> float:
        """From the launch of these clients until their load begins."""
        usual = _runtime_s(clients) + FOR_EACH_S * len(clients)
        needed = self._needed.get(_kind(clients))
        return usual if needed is None else min(usual, max(LEAST_S, _TIMES * needed))

    def needed(self, clients: Sequence[LoadClient], seconds: float) -> None:
        """All clients were ready this many seconds after the launch."""
        kind = _kind(clients)
        self._needed[kind] = max(seconds, self._needed.get(kind, 0.0))

    def missed(self, clients: Sequence[LoadClient]) -> None:
        """A client was not connected in time: the next ones have the usual head start."""
        self._needed.pop(_kind(clients), None)


def _kind(clients: Sequence[LoadClient]) -> tuple[float, int]:
    return _runtime_s(clients), len(clients)


def _runtime_s(clients: Sequence[LoadClient]) -> float:
    return max(client.head_start_s for client in clients)
