"""The prices that a run has for its bills: of ways, of ways to a working server, and of parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.records.kept_measurements import read, write
from tare.records.part_prices import keep_parts, parts_in
from tare.records.prices import Weighing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.records.layout import RunFiles
    from tare.records.part_prices import PartWeighing


@dataclass(frozen=True)
class RunPrices:
    """A run's prices.

    Attributes:
        ways: a request and its answer on each way; without them the others are of no use.
        working: the same, of servers that work for each request; None: not weighed.
        parts: system calls and storage.
    """

    ways: Weighing
    working: Weighing | None = None
    parts: Sequence[PartWeighing] = ()

    def keep(self, files: RunFiles) -> None:
        """Write them to the run's files, ways last: a run that has them is given no more."""
        for one in self.parts:
            keep_parts(one, files.root)
        if self.working is not None:
            write(self.working, files.working_prices)
        write(self.ways, files.prices)


def prices_of(files: RunFiles) -> RunPrices | None:
    """The prices of a run; None: it has none of ways, or they cannot be read."""
    ways = read(Weighing, files.prices)
    if ways is None:
        return None
    return RunPrices(ways, read(Weighing, files.working_prices), parts_in(files.root))
