"""The analysis as a document: what `tare report --json` prints and the pages are made from."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Verdict = Literal["equivalent", "different within the margin", "different", "inconclusive"]


class Part(BaseModel):
    """Base of all parts of an analysis."""

    model_config = ConfigDict(extra="forbid")


class Metric(Part):
    """One thing measured per trial."""

    name: str = Field(description="throughput, all.mean, read.p99, cpu.util, errors, ...")
    title: str = Field(description="as a reader sees it, e.g. '99th percentile latency'")
    unit: str = Field(description="e.g. 'operations/s', 'us', 'us/operation'")
    better: Literal["higher", "lower"]


class Pair(Part):
    """Treatment over baseline inside one block."""

    round: int
    block: int
    ratio: float


class Effect(Part):
    """One treatment over the baseline on one metric, as a ratio with its 95% interval."""

    metric: str
    levels: dict[str, str] = Field(description="the treatment's factor levels")
    baseline: str = Field(description="baseline condition")
    treatment: str = Field(description="treatment condition")
    aa: bool = Field(description="both are the same setup under two names")
    over: list[str] = Field(
        default_factory=list, description="factors over whose levels it is averaged"
    )
    ratio: float
    ci: tuple[float, float] = Field(description="95% interval of the ratio")
    ci90: tuple[float, float] = Field(description="90% interval, the one TOST uses")
    verdict: Verdict
    margin: float | None = Field(description="declared margin, e.g. 0.05; null: none declared")
    baseline_value: float = Field(description="geometric mean over trials, in the metric's unit")
    treatment_value: float
    deployments: int = Field(description="independent units that the interval counts")
    blocks: int = Field(description="pairs (blocks) that entered")
    unit_of_analysis: Literal["deployment", "block"]
    df: float
    sd_log: float = Field(description="sd of the log-ratio between units of analysis")
    mde: float | None = Field(description="least ratio change detectable with 80% power, e.g. .04")
    needed: int | None = Field(
        description="units of analysis still needed for a decision at the margin; 0: enough"
    )
    pairs: list[Pair]
    p: float | None
    p_equivalence: float | None
    method: str = Field(description="how the interval was made, one sentence")
    factor: str = Field(
        default="", description="the one factor in which the two differ; empty: several"
    )
    ci_unpooled: tuple[float, float] | None = Field(
        default=None, description="95% interval of the plain paired t, the cross-check of ci"
    )
    p_adjusted: float | None = Field(
        default=None, description="p adjusted for multiplicity; verdicts use this one"
    )
    adjustment: str = Field(
        default="none", description="how p was adjusted, e.g. 'Holm over 8 primary comparisons'"
    )
    primary: bool = Field(default=False, description="on a primary endpoint of the study")
    conditional: bool = Field(
        default=False,
        description="one deployment only: the platform and the deployment cannot be told apart",
    )
    cohens_d: float | None = Field(
        default=None, description="secondary: difference of trial means over their pooled sd"
    )
    hedges_g: float | None = Field(
        default=None, description="secondary: cohens_d corrected for small samples"
    )


class NoiseFloor(Part):
    """How far apart identical conditions were (A/A)."""

    metric: str
    conditions: tuple[str, str]
    floor: float = Field(description="95th percentile of |log-ratio| over pairs, as a change")
    deployment_floor: float | None = Field(description="the same over deployment means")
    exceeds_margin: bool


class Check(Part):
    """One thing that decides whether the result can be trusted."""

    name: str
    status: Literal["ok", "warning", "invalid"]
    summary: str
    details: list[str] = Field(default_factory=list)


class ParityDifference(Part):
    """A fact that should be alike in all conditions, and is not."""

    fact: str
    values: dict[str, list[str]] = Field(description="value to the conditions that have it")
    expected: bool = Field(description="it follows from what the study varies")


class TrialSummary(Part):
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
    errors: int
    saturated: bool
    warm: bool | None
    steady: bool | None = Field(description="null: too short to tell")
    outlier: bool = Field(description="shown, never dropped")


class Series(Part):
    """One-second series of one trial; t = 0 is the start of the measured part."""

    trial: str
    condition: str
    t: list[float]
    values: dict[str, list[float | None]] = Field(
        description="throughput (ops/s), p99 (us), server_cpu, client_cpu, machine_cpu (cores), "
        "disk_write, disk_read, network (bytes/s)"
    )


class Distribution(Part):
    """Latency quantiles of one condition, from merged histograms."""

    condition: str
    operation: str = Field(description="READ, UPDATE, ... or ALL")
    kind: Literal["service", "response"]
    count: int
    quantiles: list[tuple[float, float]] = Field(description="(percentile 0..100, microseconds)")


class ConditionSummary(Part):
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


class Layer(Part):
    """One kind of mark of one series in a chart. All lists are as long as `x`, or empty."""

    kind: Literal["points", "line", "band", "bars", "intervals", "boxes"]
    series: str = Field(description="name in the legend")
    condition: str = Field(default="", description="whose colour it has; empty: by series")
    x: list[float] = Field(description="positions; with categories, indices into them")
    y: list[float] = Field(default_factory=list)
    low: list[float] = Field(default_factory=list, description="of bands, intervals and boxes")
    high: list[float] = Field(default_factory=list)
    quartiles: list[tuple[float, float]] = Field(
        default_factory=list, description="boxes: first and third quartile; y is the median"
    )
    trials: list[list[str]] = Field(
        default_factory=list, description="per mark, the trials that it comes from"
    )
    labels: list[str] = Field(default_factory=list, description="per mark, what a reader is told")


class Chart(Part):
    """One panel of a figure, as data: axes, marks, events."""

    title: str
    x_title: str
    x_unit: str = ""
    y_title: str
    y_unit: str = ""
    categories: list[str] = Field(default_factory=list, description="empty: x is a number")
    x_log: bool = False
    y_log: bool = False
    y_from_zero: bool = False
    reference: float | None = Field(default=None, description="a horizontal line, e.g. 0% change")
    layers: list[Layer]
    events: list[tuple[float, float, str]] = Field(
        default_factory=list, description="(from, to, what) on the x axis, e.g. a compaction"
    )


class Grid(Part):
    """A table, as data. Numbers stay numbers; the report formats them."""

    columns: list[str]
    units: list[str] = Field(description="per column; empty for text")
    rows: list[list[str | float | None]]
    notes: list[str] = Field(default_factory=list)


class Exhibit(Part):
    """A figure or table that the study asked for, with the place that first printed its kind."""

    name: str = Field(description="unique in the report, a file name: relative-change-1")
    kind: str
    title: str
    caption: str = Field(description="how to read it, and how it was computed")
    after: str = Field(default="", description="e.g. Grambow 2018, Table 3")
    charts: list[Chart] = Field(default_factory=list)
    grids: list[Grid] = Field(default_factory=list)


class Analysis(Part):
    """Everything that a report shows."""

    format: int = 2
    study: str
    question: str
    run: str
    valid: bool
    problems: list[str] = Field(description="what makes it invalid or doubtful, worst first")
    baseline: str
    metrics: list[Metric]
    conditions: list[ConditionSummary]
    effects: list[Effect]
    noise_floor: list[NoiseFloor]
    checks: list[Check]
    parity: list[ParityDifference]
    trials: list[TrialSummary]
    series: list[Series]
    distributions: list[Distribution]
    exhibits: list[Exhibit] = Field(
        default_factory=list, description="figures and tables that the study asked for"
    )
    provenance: dict[str, Any] = Field(
        description="sections of facts: software, machine, study, commands, seed, digests"
    )
