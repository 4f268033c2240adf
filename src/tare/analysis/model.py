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

    name: str = Field(description="throughput, mean, p50, p95, p99, p999, server_cpu_per_op, ...")
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
    further_deployments: int | None = Field(
        description="units of analysis still needed for a decision at the margin; 0: enough"
    )
    pairs: list[Pair]
    p_difference: float | None
    p_equivalence: float | None
    method: str = Field(description="how the interval was made, one sentence")
    factor: str = Field(
        default="", description="the one factor in which the two differ; empty: several"
    )
    ci_unpooled: tuple[float, float] | None = Field(
        default=None, description="95% interval of the plain paired t, the cross-check of ci"
    )
    p_adjusted: float | None = Field(
        default=None, description="p_difference adjusted for multiplicity; verdicts use this one"
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
    values: dict[str, float] = Field(description="metric to geometric mean over trials")
    cv: dict[str, float] = Field(description="metric to coefficient of variation over trials")
    median_trial: str | None = Field(
        default=None, description="the trial with the median throughput"
    )


class Analysis(Part):
    """Everything that a report shows."""

    format: int = 1
    study: str
    question: str
    run: str
    valid: bool
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
    provenance: dict[str, Any] = Field(
        description="sections of facts: software, machine, study, commands, seed, digests"
    )
