"""The knowledge file as pydantic models: one finding is one effect, its conditions, its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from tare.databases.names import DatabaseName
from tare.machines.registry import guests
from tare.runtimes.registry import BARE
from tare.study import platform
from tare.study.platform import Network, RuntimeName, Storage
from tare.study.question import Metric as TareMetric

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._+-]{0,119}$")]
Number = Annotated[int | float, Field(allow_inf_nan=False)]
"""As printed: 2 and 2.0 differ in what rounding may hide."""
Text = Annotated[
    str, StringConstraints(max_length=2000, pattern=r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$")
]
"""No control characters: what others wrote is printed on a terminal."""

if TYPE_CHECKING:
    Machines: TypeAlias = str
    Plugin: TypeAlias = str
else:
    Machines = Literal["physical", "vm", *guests()]
    Plugin = Literal["", "flannel", platform.Plugin]
"""`flannel` alone: the source does not say with which backend."""
Operation = Literal["all", "mixed", "read", "update", "insert", "write", "rmw"]
Unit = Literal["operations/s", "us", "ms", "%", "kB", "kB/s", "us/operation", "operations", ""]


class KnowledgePart(BaseModel):
    """Base of all parts of a knowledge file: frozen, no unknown fields, no silent conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Side(KnowledgePart):
    """What the database ran on, on one side of a comparison. null: the source does not say."""

    machines: Machines | None = Field(
        None,
        description=f"what the operating system ran on; {' and '.join(guests())} are themselves "
        "compared",
    )
    runtime: RuntimeName = Field(BARE, description="how a node was run")
    network: Network | None = Field(None, description="how a client reached a node")
    address: Literal["", "floating-ip", "host-name"] = Field(
        "", description="the stable address in front of the network, where one was compared"
    )
    plugin: Plugin = Field("", description="network plugin of an orchestrator")
    storage: Storage | None = Field(None, description="where the data lay")
    client: RuntimeName | None = Field(None, description="how the client was run")
    clusters: int | None = Field(None, ge=1, description="clusters side by side")
    replication_factor: int | None = Field(
        None, ge=1, description="copies of each row, where the two sides differ in it"
    )

    @property
    def platform(self) -> str:
        """One word: the hypervisor under a native process, else the runtime."""
        return hypervisor(self.machines, self.runtime)


def hypervisor(machines: str | None, runtime: str) -> str:
    """The hypervisor if a process ran natively in such a machine, else the runtime."""
    return str(machines) if machines in guests() and runtime == BARE else runtime


def compared(side: Side, base: Side) -> tuple[str, str]:
    """The compared sides, each in one word.

    On machines of one kind the runtimes are compared, also inside virtual machines. With one
    runtime on machines of two kinds, the machines are: Docker in KVM against Docker asks about KVM.
    """
    new, old = (str(one.machines) if one.machines in guests() else BARE for one in (side, base))
    if new == old:
        return side.runtime, base.runtime
    return (new, old) if side.runtime == base.runtime else (side.platform, base.platform)


class PublishedLoad(KnowledgePart):
    """How hard the database was driven. null: not stated."""

    threads: int | None = Field(None, ge=1, description="operations in flight, closed loop")
    threads_at_maximum: int | None = Field(
        None, ge=1, description="operations in flight at which throughput no longer grew"
    )
    rate: Number | None = Field(None, gt=0, description="operations per second, where it was set")
    share: float | None = Field(
        None, gt=0, le=1, description="throughput as a share of the maximum; 1 is the maximum"
    )
    reached: float | None = Field(
        None,
        gt=0,
        le=1,
        description="the share of the maximum that the source measured at this load, where it is "
        "not the one that the source calls it by",
    )
    label: Text = Field("", description="the level as the source calls it")

    @property
    def measured(self) -> float | None:
        """Share of the maximum throughput: as measured, else as called."""
        return self.reached if self.reached is not None else self.share


class Values(KnowledgePart):
    """The two values, in the finding's unit, with as many digits as printed."""

    baseline: Number | None = None
    treatment: Number | None = None
    step: Number | None = Field(
        None,
        gt=0,
        description="each value is the last of steps this wide that was reached: it stands for "
        "anything from there to the next",
    )


class PublishedEffect(KnowledgePart):
    """Treatment over baseline."""

    ratio: float | None = Field(None, gt=0, description="null: only the direction is stated")
    low: float | None = Field(None, gt=0, description="lower end of a stated range of the ratio")
    high: float | None = Field(None, gt=0, description="upper end of a stated range of the ratio")
    direction: Literal["higher", "lower", "none", "varies"] = Field(
        description="of the treatment's value; none: the source calls the two alike"
    )
    how: Literal["printed", "two values", "range", "direction", "computed", "chained"] = Field(
        description="printed: the source prints the change; two values: it prints both; range: "
        "read off a stated range or bound; direction: no number; computed: by Tare from records; "
        "chained: by Tare from findings that share a side, and never written in a file"
    )
    printed: Number | None = Field(None, description="the change as the source prints it")
    printed_as: Literal["", "percent", "points"] = Field(
        "", description="percent: relative change; points: treatment minus baseline, in percent"
    )
    mean_of: list[Slug] = Field(
        [], description="findings whose mean change it is, as stated or as computed"
    )
    extreme_of: list[Slug] = Field(
        [], description="findings with the least change of a range, the greatest, or both"
    )


class Spread(KnowledgePart):
    """What is known of the uncertainty."""

    n: int | None = Field(None, ge=1, description="repetitions per side")
    baseline_sd: Number | None = Field(None, ge=0, description="in the finding's unit")
    treatment_sd: Number | None = Field(None, ge=0, description="in the finding's unit")
    sd_low: Number | None = Field(None, ge=0, description="least of a stated range of sds")
    sd_high: Number | None = Field(None, ge=0, description="greatest of that range")
    cohens_d: Number | None = Field(None, description="as printed")
    ci: Annotated[tuple[float, float], Field(strict=False)] | None = Field(
        None, description="95% interval of the ratio"
    )
    sd_log: float | None = Field(
        None, ge=0, description="sd of the log-ratio between units of analysis (deployments)"
    )
    units: int | None = Field(None, ge=1, description="units of analysis behind ci and sd_log")


class Source(KnowledgePart):
    """The exact place. `where` names row and column, or what the sentence is about."""

    section: Text = ""
    table: Text = ""
    figure: Text = ""
    where: Text = ""


class Discrepancy(KnowledgePart):
    """Two statements of one source that do not agree. Both stand; neither is corrected."""

    about: Literal["change", "points", "cohens-d", "value", "mean", "statement", "label"] = Field(
        description="label: a caption or title names something else than the text does"
    )
    other: Number | None = Field(
        None, description="the number elsewhere that differs, in the terms of `about`"
    )
    place: Text = Field(description="where the other statement is")
    note: Text = Field(description="what differs")


class Finding(KnowledgePart):
    """One effect, or one stated variability, with its conditions and source."""

    id: Slug
    study: Slug
    kind: Literal["effect", "spread"] = Field(
        "effect", description="spread: only the variability of the baseline side is stated"
    )
    database: DatabaseName
    version: Text = Field("", description="release; empty: not stated")
    nodes: int | None = Field(None, ge=1, description="nodes per cluster")
    replication_factor: int | None = Field(None, ge=1, description="copies of each row")
    consistency: Text = ""
    settings: dict[Slug, Text] = Field({}, description="settings that the finding is about")
    baseline: Side
    treatment: Side | None = None
    workload: list[Slug] = Field([], description="ycsb-a, stress-mixed, ...; several: over all")
    operation: Operation
    load: PublishedLoad = PublishedLoad()
    metric: TareMetric = Field(description="Tare's name of the metric")
    unit: Unit
    values: Values = Values()
    effect: PublishedEffect | None = None
    spread: Spread = Spread()
    hardware: Text
    source: Source
    discrepancies: list[Discrepancy] = []
    notes: Text = ""

    @property
    def side(self) -> Side:
        """What it is about: the treatment; the baseline where there is no treatment."""
        return self.treatment or self.baseline

    @property
    def computed(self) -> bool:
        """Computed by Tare from records, rather than printed by somebody."""
        return self.effect is not None and self.effect.how == "computed"


class Work(KnowledgePart):
    """What the findings of a file come from."""

    id: Slug
    title: Text
    authors: Text = ""
    year: int | None = None
    published: Text = Field("", description="where, as one would cite it")
    tool: Text = Field("", description="load generator and version")
    notes: list[Text] = Field([], description="what concerns all findings, discrepancies too")


class KnowledgeFile(KnowledgePart):
    """One file: a work and its findings, after `common` fields were laid under each."""

    format: Literal[1]
    work: Work
    findings: list[Finding]
