"""How often, in which order and from which state conditions are measured."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from tare.study.part import StudyPart
from tare.study.quantities import Duration, Fraction

OFF: Literal["off"] = "off"
AUTO: Literal["auto"] = "auto"
"""In slices wherever the conditions can be: `slice_choice.choose` says where, and nobody else."""
Slice = Annotated[
    Literal["auto", "off"] | Annotated[Duration, Field(ge=0.02, le=10)],
    WithJsonSchema(
        {"anyOf": [{"enum": [AUTO, OFF]}, {"type": "string"}, {"type": "number"}], "unit": "s"}
    ),
]
Drain = Annotated[
    Literal["auto"] | Annotated[Duration, Field(gt=0, le=5)],
    WithJsonSchema(
        {"anyOf": [{"enum": [AUTO]}, {"type": "string"}, {"type": "number"}], "unit": "s"}
    ),
]
FIRST_LOOK = 5 / 8
"""share of the rounds after which a run until decided is first looked at: a look at 5 and 8 of 8"""
LEAST_LOOKED_AT = 3
"""rounds before the first look: with fewer, one odd deployment is half of the evidence"""
MOST_PLANNED = 100
"""Of more units or rounds than this nobody plans the exact number: the estimate of it is rough."""
WINDOWS = 4
"""windows of a warm-up that are compared: the mean of the last two with that of the two before"""


class Warm(StudyPart):
    """The warm-up of a fresh deployment, before its first trial: load until the server is flat.

    A cluster that serves conditions of several workloads is warmed up with each of them, each for
    so long: reads do not compile what writes need.
    """

    gentle: Annotated[Duration, Field(ge=0)] = Field(
        0.0,
        description="first, for at most so long, only `gentle_threads` operations in flight: the "
        "JIT compiler then has the CPU for itself and is done several times sooner",
    )
    gentle_threads: int = Field(
        2, ge=1, description="in flight while gentle", json_schema_extra={"unit": "operations"}
    )
    cpus: Literal["limits", "all"] = Field(
        "limits",
        description="all: deploy, populate and begin to warm up on every CPU, and confine the "
        "nodes to platform.limits.cpuset before the last part of the warm-up",
    )
    at_least: Annotated[Duration, Field(ge=0)] = Field(
        10.0, description="shortest warm-up under the full load"
    )
    at_most: Annotated[Duration, Field(ge=0)] = Field(
        60.0,
        description="longest warm-up under the full load; then measured all the same, and "
        "reported as not flat; 0: none",
    )
    window: Annotated[Duration, Field(gt=0)] = Field(
        3.0, description="length of the windows that are compared"
    )
    bound: Annotated[Fraction, Field(gt=0, le=1)] = Field(
        0.05, description="flat: the last windows agree in CPU per operation and throughput within"
    )


class Design(StudyPart):
    """How often, in which order, and from which state each condition is measured."""

    deployments: int = Field(
        3,
        ge=1,
        le=1000,
        description="rounds; each deploys every condition anew; with `until: decided`, at most",
        json_schema_extra={"unit": "rounds"},
    )
    until: Literal["rounds", "decided"] = Field(
        "rounds",
        description="rounds: all of them; decided: a look after 5/8 of them ends the run if every "
        "primary comparison has a verdict, at a level that allows for the looks",
    )
    at_most: Annotated[Duration, Field(gt=0)] | None = Field(
        None,
        description="no round but the first is begun that would end later than so long after the "
        "run began; none: no limit",
    )
    blocks: int = Field(
        4,
        ge=1,
        le=1000,
        description="passes over all conditions per round",
        json_schema_extra={"unit": "blocks"},
    )
    order: Literal["randomised", "fixed"] = Field(
        "randomised", description="order of conditions within a block"
    )
    seed: int = Field(7, ge=0, description="seed of every random order")
    fresh: Literal["trial", "block", "deployment"] = Field(
        "deployment", description="how long a cluster lives"
    )
    idle: Literal["pause", "run"] = Field(
        "pause", description="what clusters do while another one is measured"
    )
    idle_cpus: Literal["poll", "halt"] = Field(
        "poll",
        description="what a CPU without work does during a run: poll for some, where the kernel "
        "has a driver for it, so that none has to be woken; or halt, as the kernel has it",
    )
    reset: Literal["truncate", "drop", "keep"] = Field(
        "truncate", description="what happens to the data before each trial"
    )
    data: Literal["snapshot", "populate"] = Field(
        "snapshot",
        description="how a deployment gets its rows. snapshot: with reset keep, every deployment "
        "starts from a copy of one data directory, so that their storage is alike; where that "
        "cannot be, and with populate, each fills its own table",
    )
    drop_caches: bool = Field(
        True, description="drop the kernel's page cache before each trial, where permitted"
    )
    warm: Warm = Field(Warm(), description="warm-up of a fresh deployment")
    slice: Slice = Field(
        AUTO,
        description="drive the conditions of a block in turn, each for so long at a time, until "
        "each has had load.warmup and load.measure in all; off: one after another, each in one "
        "piece; auto: 250ms wherever the study can be measured so, shorter where servers have "
        "several conditions (turn), else off, and the plan says why",
    )
    drain: Drain = Field(
        AUTO,
        description="after each slice, time for the last replies before the servers stand still; "
        "auto: by what is in flight, of reads 24 ms with 32 on one node and 7 ms with 4; "
        "of other loads 25 ms at least",
    )
    turn: Literal["auto", "slice", "pass"] = Field(
        AUTO,
        description="what a server is driven for until another has its turn: a slice of one of its "
        "conditions; or a pass, which has a slice of each, so that they are neighbours in time "
        "and its caches stay warm; auto: with slice: auto a pass, in slices as short as what is in "
        "flight allows, where a server has several conditions; else a slice",
    )

    pace: Literal["auto", "off"] = Field(
        AUTO,
        description="in slices, time a microsecond of arithmetic every 2 ms on the servers' "
        "CPUs, before everything else there, so that the fit can tell what a neighbour on the "
        "same core takes away; auto: where this machine lets it; off: no",
    )

    @property
    def slice_s(self) -> float | None:
        """Length of a slice, seconds; None: in one piece, or not planned (imported files)."""
        return self.slice if isinstance(self.slice, float) else None

    @property
    def looks(self) -> tuple[int, ...]:
        """Rounds before the last after which the run is looked at: planned before it begins."""
        first = max(LEAST_LOOKED_AT, math.ceil(FIRST_LOOK * self.deployments))
        return (first,) if self.until == "decided" and first < self.deployments else ()
