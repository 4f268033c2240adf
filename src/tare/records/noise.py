"""The noise of this machine's slices, as the pilot of `tare doctor --noise` found and kept it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tare.artifacts.tree import default_cache
from tare.errors import RecordError

if TYPE_CHECKING:
    from tare.machines.facts import MachineFacts


class Part(BaseModel):
    """The base of these documents."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Machine(Part):
    """Which machine it was: noise is of one machine only."""

    hostname: str
    cpus: int
    cpu_model: str
    virtualization: str
    kernel: str

    @classmethod
    def of(cls, facts: MachineFacts) -> Machine:
        return cls(**{name: getattr(facts, name) for name in cls.model_fields})


class MetricNoise(Part):
    """The noise of one metric, all of it in natural logarithms."""

    sd: float = Field(ge=0, description="sd of a slice, the servers' own means taken off")
    correlations: dict[int, float | None] = Field(
        description="lag in slices to the correlation of a slice with the one so many later; "
        "null: the pilot was too short for it"
    )
    per_pass: float = Field(
        ge=0,
        description="standard error of the log-ratio of two conditions after one slice of each; "
        "after n slices of each it is this over the root of n",
    )
    df: float = Field(gt=0, description="degrees of freedom of per_pass")


class Quiet(Part):
    """What is recorded of any measurement on servers without a database."""

    schema_version: Literal[1] = 1
    made: datetime
    machine: Machine
    slice_s: float
    pinned: bool = Field(description="servers and clients had a CPU each")
    frozen: bool = Field(description="servers stood still between their slices")
    idle_cpus: str = Field(description="poll; or halt, and why")
    late: int = Field(description="slices that began or ended more than 5 ms late")
    steal: float = Field(description="share of the machine's CPU time that a hypervisor took")
    other_cores: float = Field(description="CPU time of other programs, in cores")


class Noise(Quiet):
    """What one pilot found."""

    seconds: float = Field(description="from the first slice to the last")
    servers: int
    slices: int = Field(description="measured, of each server")
    drain_s: float
    metrics: dict[str, MetricNoise]


def kept_at(cache: Path | None = None) -> Path:
    """The file of this machine's latest pilot."""
    return (cache or default_cache()) / "noise.json"


def keep(noise: Noise, cache: Path | None = None) -> Path:
    """Write it in place of an earlier one, whole or not at all.

    Raises:
        RecordError: it cannot be written.
    """
    file = kept_at(cache)
    aside = file.with_suffix(".json.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(noise.model_dump_json(indent=1) + "\n", encoding="utf-8")
        aside.replace(file)
    except OSError as error:
        raise RecordError(
            "the pilot's result cannot be kept",
            where=str(file),
            why=str(error),
            remedy="make room, or set TARE_CACHE to a directory that can be written",
        ) from error
    return file


def kept_here(facts: MachineFacts, cache: Path | None = None) -> Noise | None:
    """This machine's latest pilot; None: there is none, or it is another machine's or kernel's."""
    try:
        found = Noise.model_validate_json(kept_at(cache).read_bytes())
    except (OSError, ValidationError):
        return None
    return found if found.machine == Machine.of(facts) else None
