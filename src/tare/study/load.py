"""The study's load: a workload, its data, and its intensity."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tare.study.intensity import Phase, Rate, Search, Threads, share_of_max
from tare.study.part import StudyPart, usual
from tare.study.quantities import Duration
from tare.study.statements import Statements

Workload = Literal[
    "ycsb-a",
    "ycsb-b",
    "ycsb-c",
    "ycsb-d",
    "ycsb-e",
    "ycsb-f",
    "stress-mixed",
    "stress-read",
    "stress-write",
    "stress-counter-write",
    "stress-counter-read",
]
Distribution = Literal[
    "zipfian", "uniform", "latest", "hotspot", "exponential", "sequential", "gaussian"
]
Operation = Literal["read", "update", "insert", "scan", "readmodifywrite", "write"]
_ONLY_READ = ("ycsb-c", "stress-read")
Kind = Literal["ycsb", "stress", "statements"]
NATIVE = "statements"
"""Name in tables of a workload of the study's own."""


class Load(StudyPart):
    """A workload and its intensity."""

    workload: Workload = Field("ycsb-a", description="operation mix, key distribution and table")
    statements: Statements | None = Field(
        None, description="a workload of prepared CQL statements, in the place of `workload`"
    )
    records: int = Field(
        100_000,
        ge=1,
        le=10**12,
        description="rows populated first",
        json_schema_extra={"unit": "rows"},
    )
    distribution: Distribution | None = Field(
        None, description="which records are used how often; null: the workload's own"
    )
    fields: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="columns of a row; null: YCSB's 10, cassandra-stress's 5",
        json_schema_extra={"unit": "columns"},
    )
    field_length: int | None = Field(
        None,
        ge=1,
        le=1 << 20,
        description="length of a column's value; null: YCSB's 100, cassandra-stress's 34",
        json_schema_extra={"unit": "bytes"},
    )
    mix: dict[Operation, Annotated[float, Field(ge=0, le=1e9)]] = Field(
        {},
        description="weight per operation, in the place of the workload's own mix; "
        "cassandra-stress's ratio(write=1,read=3) is {write: 1, read: 3}",
    )
    threads: Threads = Field(
        32, description="operations in flight per client: a number, max, or 66% of max"
    )
    rate: Rate = Field(
        None,
        description="open loop: intended rate, a number, max, or 66% of max; null: closed loop",
    )
    rate_per: Literal["client", "condition"] = Field(
        "client",
        description="whose rate it is, also in phases: each client's, or that of all clients of "
        "the condition together, in equal parts; clusters side by side have a client each",
        exclude_if=usual("client"),
    )
    search: Search = Field(
        Search(), description="how the maximum is found that threads or rate refer to"
    )
    phases: list[Phase] = Field(
        [], description="open loop: rates one after another; their lengths replace `measure`"
    )
    arrivals: Literal["poisson", "fixed"] = Field(
        "poisson", description="open loop: how intended send times are spaced"
    )
    warmup: Annotated[Duration, Field(ge=0)] = Field(
        2.0,
        description="load at the start of every trial that is not measured; in slices longer where "
        "other deployments have more conditions, so that all are driven equally often",
    )
    measure: Annotated[Duration, Field(gt=0)] = Field(
        10.0,
        description="measured part of every trial; in slices longer for the baseline of a "
        "deployment's conditions, and where other deployments have more conditions, so that all "
        "are driven equally often",
    )
    timeout: Annotated[Duration, Field(gt=0)] = Field(
        5.0, description="an operation unanswered for so long is an error"
    )

    @property
    def kind(self) -> Kind:
        """Kind of its data and operations."""
        if self.statements is not None:
            return "statements"
        return "ycsb" if self.workload.startswith("ycsb-") else "stress"

    @property
    def label(self) -> str:
        """The workload's name in tables."""
        return self.workload if self.statements is None else NATIVE

    @property
    def operations(self) -> str:
        """The operations it sends, not their number or rate.

        A server that is warm for one load is warm for another with the same operations.
        """
        return self.model_dump_json(include={"workload", "statements", "mix"})

    @property
    def table(self) -> str:
        """The table that the workload reads and writes; for the study's own, the keyspace alone."""
        if self.statements is not None:
            return self.statements.keyspace
        if self.kind == "ycsb":
            return "ycsb.usertable"
        return "keyspace1.counter1" if self.counters else "keyspace1.standard1"

    @property
    def counters(self) -> bool:
        """Whether its columns are counters."""
        return self.kind == "stress" and self.workload.startswith("stress-counter-")

    @property
    def only_reads(self) -> bool:
        """Whether every operation is known to read single rows."""
        if self.statements is not None:
            return False
        if self.mix:
            return {name for name, weight in self.mix.items() if weight} == {"read"}
        return self.workload in _ONLY_READ

    @property
    def columns(self) -> int:
        """Columns of a populated row, the key left out."""
        return self.fields or (10 if self.kind == "ycsb" else 5)

    @property
    def column_bytes(self) -> int:
        """Length of a column's value, bytes; counters have 8."""
        if self.counters:
            return 8
        return self.field_length or (100 if self.kind == "ycsb" else 34)

    @property
    def measured_s(self) -> float:
        """Length of the measured part of a trial, seconds."""
        return sum(one.length for one in self.phases) or self.measure

    @property
    def asked(self) -> int | float | str:
        """The number that sets the intensity: the rate where there is one, else the threads."""
        found: int | float | str = self.threads if self.rate is None else self.rate
        return found

    @property
    def share(self) -> float | None:
        """The share of the maximum that the load asks for; None: it names a number."""
        return share_of_max(self.asked)

    @property
    def sought(self) -> Literal["threads", "rate"] | None:
        """Which of the two is a share of a maximum that has to be found first."""
        if self.share is None:
            return None
        return "threads" if self.rate is None else "rate"

    def each(self, rate: float, clusters: int) -> float:
        """One client's part of a rate, operations/s."""
        return rate / clusters if self.rate_per == "condition" else rate

    @property
    def intensity(self) -> str:
        """The load in a few words, for tables."""
        whose = " in all" if self.rate_per == "condition" else ""
        if self.phases:
            least = min(min(one.rate, one.to or one.rate) for one in self.phases)
            most = max(max(one.rate, one.to or one.rate) for one in self.phases)
            return f"{least:,.0f} to {most:,.0f}/s{whose} in {len(self.phases)} phases"
        if self.rate is not None:
            if isinstance(self.rate, str):
                return f"rate {self.rate}{whose}"
            return f"{self.rate:,.0f}/s{whose}"
        return f"{self.threads} in flight"

    def settled(self, **found: Any) -> Load:
        """The same load with a found number in place of a share of the maximum."""
        return self.model_copy(update=found)
