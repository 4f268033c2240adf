"""What a platform's parts cost, as `tare weigh` finds it: system calls, storage, the machine, names
and starts."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from tare.records.prices import Interval
from tare.records.quiet import Machine, QuietRecord

WeighedPart = Literal["system", "storage", "machine", "name", "start"]


class Cost(QuietRecord):
    """What one operation takes on a platform, nanoseconds."""

    ns: Interval
    added: Interval | None = Field(
        description="over native; null for native, which the others are compared with"
    )
    percent: Interval | None = Field(
        description="the same as a share of native's in each round, percent: without the speed of "
        "the machine, which differs from round to round and is in the interval of `added`",
    )


class PartPrice(QuietRecord):
    """One piece on one platform."""

    what: WeighedPart
    piece: str = Field(description="as tare-micro names it; start: of a unit")
    title: str = Field(description="what one operation is")
    platform: str = Field(
        description="RUNTIME, of storage RUNTIME.KIND, of names RUNTIME.RESOLVER, of starts "
        "RUNTIME.NETWORK; native again: the same twice"
    )
    runtime: str
    storage: str = Field(description="directory, volume or layer; empty: no files are touched")
    cpu: Cost = Field(
        description="CPU time of the process that does it; of names, of the engine as well; of "
        "starts, of the unit until its first answer"
    )
    wall: Cost = Field(
        description="time that passes until it is done; of the timer, by how much it is late; of "
        "starts, from the order to the first answer"
    )


class FileSystem(QuietRecord):
    """What a platform's files were on."""

    kind: str = Field(description="such as ext4, overlay")
    device: str = Field(description="MAJOR:MINOR, as stat gives it there")


class PartWeighing(QuietRecord):
    """What one weighing of a platform's parts found."""

    schema_version: Literal[1] = 1
    made: datetime
    machine: Machine
    seconds: float = Field(description="from the first round's start to the last one's end")
    rounds: int = Field(description="each with new processes and containers; intervals count these")
    passes: int = Field(description="turns of each piece on each platform in a round")
    cpu: int = Field(description="number of the CPU that all ran on, but for starts")
    idle_cpus: str = Field(description="poll; or halt, and why")
    turns: int
    late: int = Field(
        description="turns that were left out: they began more than 5 ms late, or two overlapped"
    )
    steal: float = Field(description="share of the machine's CPU time that a hypervisor took")
    other_cores: float = Field(description="CPU time of other programs, in cores")
    file_systems: dict[str, FileSystem] = Field(description="of each platform's files")
    left_out: dict[str, str] = Field(description="what could not be weighed, and why")
    prices: list[PartPrice]
