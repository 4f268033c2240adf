"""The comparison of two runs as a document: what `tare compare --json` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.analysis.model import AnalysisPart, Metric, Verdict

Direction = Literal["better", "worse", "none"]
UnitOfAnalysis = Literal["deployment", "block", "repetition"]


class ComparedRun(AnalysisPart):
    """One of the two runs."""

    study: str
    run: str
    valid: bool
    problems: list[str] = Field(
        description="why it is not valid; where it is, what makes it doubtful"
    )
    started: str = Field(description="ISO 8601, UTC; empty: not recorded")
    ended: str
    trials: int


class ProvenanceDifference(AnalysisPart):
    """A fact of provenance that is not the same on both sides."""

    section: str = Field(description="software, machine, database, setup, study, bits")
    fact: str
    a: str
    b: str
    conditions: list[str] = Field(
        default_factory=list, description="in B, those whose setups differ so; empty: the whole run"
    )


class Tested(AnalysisPart):
    """A ratio with its interval, its tests and its verdict."""

    metric: str
    ratio: float
    ci: tuple[float, float] = Field(description="95% interval of the ratio")
    ci90: tuple[float, float] = Field(description="90% interval, the one TOST uses")
    verdict: Verdict
    direction: Direction = Field(
        description="where the verdict is a difference: which way it goes for a user of the metric"
    )
    margin: float | None = Field(description="e.g. 0.05; null: none declared")
    df: float
    mde: float | None = Field(description="least ratio change detectable with 80% power")
    p: float | None
    p_equivalence: float | None
    p_adjusted: float | None
    adjustment: str
    primary: bool = Field(description="on a primary endpoint; `--fail-on` looks at these alone")
    conditional: bool = Field(description="one deployment on a side: no p value and no verdict")
    method: str = Field(description="how the interval was made, one sentence")


class RunDifference(Tested):
    """One condition in B over the same condition in A, on one metric."""

    a: str = Field(description="condition in A")
    b: str = Field(description="condition in B")
    levels: dict[str, str] = Field(description="the condition's factor levels in B")
    a_value: float = Field(description="geometric mean over units, in the metric's unit")
    b_value: float
    a_units: int = Field(description="independent units that the interval counts")
    b_units: int
    a_unit: UnitOfAnalysis
    b_unit: UnitOfAnalysis
    needed: int | None = Field(
        description="units per side still needed for a decision at the margin; 0: enough"
    )


class EffectChange(Tested):
    """An effect inside B over the same effect inside A: has the platform's cost changed?"""

    baseline: str = Field(description="baseline condition in B")
    treatment: str = Field(description="treatment condition in B")
    a_ratio: float = Field(description="treatment over baseline in A")
    b_ratio: float


class Floor(AnalysisPart):
    """The widest difference of identical conditions (A/A) inside the two runs."""

    metric: str
    floor: float = Field(description="as a change, of deployment means where they are counted")
    unit: UnitOfAnalysis
    run: Literal["a", "b"]
    exceeds_margin: bool


class RunComparison(AnalysisPart):
    """B over A."""

    format: int = 1
    a: ComparedRun
    b: ComparedRun
    valid: bool = Field(description="both runs are")
    margins: dict[str, float]
    margins_from: Literal["study", "command line", "study and command line"]
    metrics: list[Metric]
    differences: list[RunDifference] = Field(description="condition by condition")
    changes: list[EffectChange] = Field(description="effect by effect")
    differed: list[ProvenanceDifference] = Field(
        description="what else is not the same in both runs"
    )
    noise_floor: list[Floor]
    only_in_a: list[str] = Field(description="conditions without a partner")
    only_in_b: list[str]
    unanswered: list[str] = Field(
        description="metric and condition of primary questions without an interval: fewer than two "
        "units on a side"
    )
    notes: list[str] = Field(description="what the reader must know of the comparison itself")
