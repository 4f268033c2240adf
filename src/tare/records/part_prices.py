"""Costs of a platform's parts, as `tare weigh` finds them: system calls, storage, the machine,
names and starts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from tare.artifacts.tree import default_cache
from tare.records.kept_measurements import (
    MeasuredMachine,
    MeasurementHere,
    MeasurementPart,
    read,
    write,
)
from tare.records.prices import Interval

if TYPE_CHECKING:
    from tare.machines.facts import MachineFacts

WeighedPart = Literal["system", "storage", "machine", "name", "start"]
BILLED: tuple[WeighedPart, ...] = ("system", "storage")
"""Parts whose prices are lines of a bill: each has a file of its own, in the cache and in a
run."""


class Cost(MeasurementPart):
    """What one operation takes on a platform, nanoseconds."""

    ns: Interval
    added: Interval | None = Field(
        description="over native; null for native, which the others are compared with"
    )
    percent: Interval | None = Field(
        description="the same as a share of native's in each round, percent: without the speed of "
        "the machine, which differs from round to round and is in the interval of `added`",
    )


class PartPrice(MeasurementPart):
    """One piece on one platform."""

    what: WeighedPart
    piece: str = Field(description="as tare-micro names it; start: of a unit")
    title: str = Field(description="what one operation is")
    platform: str = Field(
        description="RUNTIME, of storage RUNTIME.KIND, of names RUNTIME.RESOLVER, of starts "
        "RUNTIME.NETWORK; native again: the same twice"
    )
    runtime: str
    storage: str = Field(description="as platform.storage names it; empty: no files are touched")
    rounds: int = Field(
        ge=2,
        description="that its intervals count: those in which it, and what it is compared with, "
        "have turns in time",
    )
    cpu: Cost = Field(
        description="CPU time of the process that does it; of names, of the engine as well; of "
        "starts, of the unit until its first answer"
    )
    wall: Cost = Field(
        description="time that passes until it is done; of the timer, by how much it is late; of "
        "starts, from the order to the first answer"
    )


class FileSystem(MeasurementPart):
    """What a platform's files were on."""

    kind: str = Field(description="such as ext4, overlay")
    device: str = Field(description="MAJOR:MINOR, as stat gives it there")


class PartWeighing(MeasurementHere):
    """What one weighing of a platform's parts found."""

    seconds: float = Field(description="from the first round's start to the last one's end")
    rounds: int = Field(description="each with new processes and containers")
    passes: int = Field(description="turns of each piece on each platform in a round")
    cpu: int = Field(description="number of the CPU that all ran on, but for starts")
    turns: int
    late: int = Field(
        description="turns that were left out: they began more than 5 ms late, or two overlapped"
    )
    file_systems: dict[str, FileSystem] = Field(description="of each platform's files")
    left_out: dict[str, str] = Field(description="what could not be weighed, and why")
    prices: list[PartPrice]

    def only(self, part: WeighedPart) -> PartWeighing | None:
        """The prices of one part; None: there are none."""
        own = [one for one in self.prices if one.what == part]
        return self.model_copy(update={"prices": own}) if own else None


def file_of(part: WeighedPart) -> str:
    """Name of the file that has the prices of one part."""
    return f"prices-{part}.json"


def keep_parts(found: PartWeighing, directory: Path | None = None) -> None:
    """Replace the kept prices of each billed part.

    Args:
        directory: a run's; None: the cache.

    Raises:
        RecordError: they cannot be written.
    """
    for part in BILLED:
        if (own := found.only(part)) is not None:
            write(own, (directory or default_cache()) / file_of(part))


def parts_in(directory: Path) -> list[PartWeighing]:
    """The prices of all billed parts that a run has."""
    found = (read(PartWeighing, directory / file_of(part)) for part in BILLED)
    return [one for one in found if one is not None]


def parts_here(facts: MachineFacts, cache: Path | None = None) -> list[PartWeighing]:
    """This machine's latest prices of all billed parts, except those of another kernel."""
    found = parts_in(cache or default_cache())
    return [one for one in found if one.machine == MeasuredMachine.of(facts)]
