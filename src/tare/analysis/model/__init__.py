"""The analysis as a document: what `tare report --json` prints and the pages are made from."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from tare.analysis.model.base import (
    AnalysisPart,
    Verdict,
)
from tare.analysis.model.bill import Bill, BillLine, BillOwner, Bills, NoBill
from tare.analysis.model.chain import Chain, ChainLink
from tare.analysis.model.effects import (
    CrossCheck,
    Effect,
    IdenticalSpread,
    Interaction,
    Metric,
    NoiseFloor,
    Pair,
    VarianceRatio,
)
from tare.analysis.model.ending import Allocation, Ending, Extension
from tare.analysis.model.exhibits import (
    Chart,
    Exhibit,
    Grid,
    Layer,
)
from tare.analysis.model.left_out import LeftOut, NotCompared
from tare.analysis.model.others_found import (
    OtherFinding,
    OtherRange,
    Others,
)
from tare.analysis.model.why import (
    BesideChange,
    CostPart,
    CostSplit,
    CountChange,
    Why,
)

__all__ = [
    "Allocation",
    "Analysis",
    "AnalysisPart",
    "BesideChange",
    "Bill",
    "BillLine",
    "BillOwner",
    "Bills",
    "Chain",
    "ChainLink",
    "Chart",
    "Check",
    "ConditionSummary",
    "CostPart",
    "CostSplit",
    "CountChange",
    "CrossCheck",
    "Distribution",
    "Effect",
    "Ending",
    "Exhibit",
    "Extension",
    "Grid",
    "IdenticalSpread",
    "Interaction",
    "Layer",
    "LeftOut",
    "Metric",
    "NoBill",
    "NoiseFloor",
    "NotCompared",
    "OtherFinding",
    "OtherRange",
    "Others",
    "Pair",
    "ParityDifference",
    "Series",
    "TrialSummary",
    "VarianceRatio",
    "Verdict",
    "Why",
]


class Check(AnalysisPart):
    """One thing that decides whether the result can be trusted."""

    name: str
    status: Literal["ok", "warning", "invalid"]
    summary: str
    details: list[str] = Field(default_factory=list)


class ParityDifference(AnalysisPart):
    """A fact that should be alike in all conditions, and is not."""

    fact: str
    values: dict[str, list[str]] = Field(description="value to the conditions that have it")
    expected: bool = Field(description="it follows from what the study varies")


class HostGroupFact(AnalysisPart):
    """One fact of the machines of groups of hosts that were compared (`platform.hosts`)."""

    fact: str
    values: dict[str, str] = Field(
        description="group to what its hosts told; several values are joined by ' and '"
    )
    differs: bool = Field(description="not every group told the same")


class TrialSummary(AnalysisPart):
    """One trial as the tables and plots show it."""

    trial: str
    condition: str
    round: int
    block: int
    position: int
    deployment: str
    status: Literal["done", "failed"]
    reason: str
    values: dict[str, float] = Field(description="metric name to value")
    beside: dict[str, float] = Field(
        default_factory=dict,
        description="counts per operation that may explain an effect, by name as in why[].beside",
    )
    errors: int
    saturated: bool
    warm: bool | None
    steady: bool | None = Field(description="by MSER-5; null: too short to tell, or in slices")
    change_points: list[float] = Field(
        default_factory=list,
        description="seconds at which the level of throughput changes (PELT)",
    )
    outlier: bool = Field(description="shown, never dropped")
    files: list[str] = Field(
        default_factory=list, description="its raw files, as paths inside the run directory"
    )
    sources: list[str] = Field(
        default_factory=list, description="of an imported trial: the other tool's files, as named"
    )


class Series(AnalysisPart):
    """One-second series of one trial; t = 0 is the start of the measured part."""

    trial: str
    condition: str
    t: list[float]
    values: dict[str, list[float | None]] = Field(
        description="throughput (ops/s), p99 (us), server_cpu, client_cpu, machine_cpu (cores), "
        "disk_write, disk_read, network (bytes/s)"
    )
    events: list[tuple[float, float, str]] = Field(
        default_factory=list,
        description="(from, to, what) in seconds of t, e.g. a compaction",
    )


class Distribution(AnalysisPart):
    """Latency quantiles of one condition, from merged histograms."""

    condition: str
    operation: str = Field(description="READ, UPDATE, ... or ALL")
    kind: Literal["service", "response"]
    count: int
    quantiles: list[tuple[float, float]] = Field(description="(percentile 0..100, microseconds)")
    band: list[tuple[float, float, float]] = Field(
        default_factory=list,
        description="(percentile, low, high) in microseconds: 95% interval of the percentile's "
        "geometric mean over deployments (or repetitions); empty: fewer than three of them",
    )


class ConditionSummary(AnalysisPart):
    """One condition as the tables show it."""

    condition: str
    levels: dict[str, str]
    aa_of: str | None = Field(description="the condition it repeats under another name")
    trials: int
    failed: int
    metrics: dict[str, float] = Field(description="metric to geometric mean over trials")
    cv: dict[str, float] = Field(description="metric to coefficient of variation over trials")
    median_trial: str | None = Field(
        default=None, description="the trial with the median throughput"
    )
    steady_share: float | None = Field(
        default=None, description="of the trials long enough to tell, those steady by MSER-5"
    )
    load: list[str] = Field(
        default_factory=list,
        description="load generators other than Tare's own, and what the load's numbers rest on "
        "where they are shares of a maximum",
    )


class Analysis(AnalysisPart):
    """Everything that a report shows."""

    format: int = 2
    study: str
    question: str
    run: str
    valid: bool
    problems: list[str] = Field(
        description="why it is not valid; where it is, what makes it doubtful"
    )
    baseline: str
    metrics: list[Metric]
    conditions: list[ConditionSummary]
    left_out: list[LeftOut] = Field(
        default_factory=list, description="conditions of the study that could not be run"
    )
    not_compared: list[NotCompared] = Field(
        default_factory=list, description="comparisons of the study that they are missing from"
    )
    ending: Ending | None = Field(
        default=None, description="looks at the run; null: nobody looked before its planned end"
    )
    extension: Extension | None = Field(
        default=None, description="what should decide it; null: decided, or nobody knows"
    )
    allocation: Allocation | None = Field(
        default=None,
        description="rounds that would have told servers apart better in the same time; null: "
        "little would be gained, or too little is known",
    )
    effects: list[Effect]
    chains: list[Chain] = Field(
        default_factory=list,
        description="ways into a server over another server: what both cost in all, on primary "
        "metrics; no comparisons of the study, and so without verdicts",
    )
    interactions: list[Interaction] = Field(
        default_factory=list, description="does an effect depend on another factor?"
    )
    variances: list[VarianceRatio] = Field(
        default_factory=list, description="is a treatment noisier, not only slower?"
    )
    noise_floor: list[NoiseFloor]
    identical: list[IdenticalSpread] = Field(
        default_factory=list,
        description="how far identical deployments differed, per baseline: of service demand, "
        "throughput, and what has a margin or is a primary endpoint",
    )
    checks: list[Check]
    parity: list[ParityDifference]
    host_groups: list[HostGroupFact] = Field(
        default_factory=list,
        description="what groups of hosts are made of, as seen from inside; empty: there were not "
        "two of them",
    )
    emulated: list[str] = Field(
        default_factory=list,
        description="conditions that ran in virtual machines whose processor was QEMU's emulation: "
        "nothing of them is KVM's cost",
    )
    trials: list[TrialSummary]
    series: list[Series]
    distributions: list[Distribution]
    why: list[Why] = Field(
        default_factory=list, description="what changed together with the effects, per treatment"
    )
    bills: Bills | None = Field(
        default=None,
        description="what prices of a packet's way predict beside what was measured; null: nothing "
        "was weighed",
    )
    exhibits: list[Exhibit] = Field(
        default_factory=list, description="figures and tables that the study asked for"
    )
    provenance: dict[str, Any] = Field(
        description="sections of facts: software, machine, study, commands, seed, digests"
    )

    @property
    def imported(self) -> bool:
        """Whether other tools measured it; then only their files tell what ran."""
        return bool(self.provenance.get("sources"))
