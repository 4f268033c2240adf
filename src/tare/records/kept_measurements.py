"""Measurements of servers without a database, kept for this machine until they are renewed."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tare.artifacts.tree import default_cache
from tare.errors import RecordError
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from tare.machines.facts import MachineFacts


class MeasurementPart(BaseModel):
    """The base of these documents."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class MeasuredMachine(MeasurementPart):
    """Which machine it was: noise and prices are of one machine only."""

    hostname: str
    cpus: int
    cpu_model: str
    virtualization: str
    kernel: str

    @classmethod
    def of(cls, facts: MachineFacts) -> MeasuredMachine:
        return cls(**{name: getattr(facts, name) for name in cls.model_fields})


LEAST_STOP_S = 0.05
"""A hypervisor takes a CPU away for tens of milliseconds; a longer gap means a stop."""


def stood_still(gap_s: float, slice_s: float) -> bool:
    """Whether something stopped a server or its client: nothing was answered for half a slice, or
    for longer than a hypervisor's pauses where that is longer.

    Args:
        gap_s: in time in which it was driven; this clock stands still between its slices.
    """
    return gap_s >= max(slice_s / 2, LEAST_STOP_S)


class MeasurementHere(MeasurementPart):
    """What is recorded of any measurement without a database."""

    schema_version: Literal[1] = 1
    made: datetime
    machine: MeasuredMachine
    idle_cpus: str = Field(description="poll; or halt, and why")
    steal: float = Field(description="share of the machine's CPU time that a hypervisor took")
    other_cores: float = Field(description="CPU time of other programs, in cores")


class KeptMeasurement(MeasurementHere):
    """The same of servers that are driven in slices."""

    kept_as: ClassVar[str]
    """file name in the cache"""

    slice_s: float
    pinned: bool = Field(description="servers and clients had a CPU each")
    frozen: bool = Field(description="servers stood still between their slices")
    late: int = Field(description="slices that began or ended more than 5 ms late")
    gap_s: float = Field(
        0.0, ge=0, description="longest time in which a server that was driven answered nothing"
    )

    @property
    def stood_still(self) -> bool:
        """Whether something stopped a server or its client."""
        return stood_still(self.gap_s, self.slice_s)

    def kept_file(self) -> str:
        """Its file name in the cache."""
        return self.kept_as


_Kind = TypeVar("_Kind", bound=KeptMeasurement)
_Record = TypeVar("_Record", bound=MeasurementPart)


def keep(found: KeptMeasurement, cache: Path | None = None) -> Path:
    """Put the measurement into the cache, in place of an earlier one.

    Raises:
        RecordError: it cannot be written.
    """
    file = (cache or default_cache()) / found.kept_file()
    write(found, file)
    return file


def write(found: MeasurementPart, file: Path) -> None:
    """Write it whole or not at all.

    Raises:
        RecordError: it cannot be written.
    """
    try:
        replace_file(file, found.model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise RecordError(
            "what was measured without a database cannot be kept",
            where=str(file),
            why=str(error),
            remedy="make room, or set TARE_CACHE to a directory that can be written",
        ) from error


def kept_at(kind: type[KeptMeasurement], cache: Path | None = None) -> Path:
    """The file in the cache with this machine's latest measurement."""
    return (cache or default_cache()) / kind.kept_as


def read(kind: type[_Record], file: Path) -> _Record | None:
    """The content of a file; None: it is missing or cannot be read."""
    try:
        return kind.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


def kept_here(
    kind: type[_Kind], facts: MachineFacts, cache: Path | None = None, file: str = ""
) -> _Kind | None:
    """This machine's latest measurement; None: there is none, or its machine or kernel differs.

    Args:
        file: its name in the cache, where the kind has several.
    """
    found = read(kind, kept_at(kind, cache).with_name(file or kind.kept_as))
    return found if found is not None and found.machine == MeasuredMachine.of(facts) else None
