"""Parts of the analysis document: metrics, effects and what stands beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from tare.analysis.model.base import AnalysisPart, Verdict
from tare.analysis.model.others_found import Others

if TYPE_CHECKING:
    from collections.abc import Mapping


class Metric(AnalysisPart):
    """One thing measured per trial."""

    name: str = Field(description="throughput, all.mean, read.p99, cpu.util, errors, ...")
    title: str = Field(description="as a reader sees it, e.g. '99th percentile latency'")
    unit: str = Field(description="e.g. 'operations/s', 'us', 'us/operation'")
    better: Literal["higher", "lower"]

    def improved_by(self, ratio: float) -> bool:
        """Whether a value that is so many times another's is the better one."""
        return (ratio > 1) == (self.better == "higher")


# no model of its own: there may be hundreds of thousands
@dataclass(config=ConfigDict(extra="forbid"), slots=True)
class Pair:
    """Treatment over baseline inside one block."""

    round: int
    block: int
    ratio: float


class CrossCheck(AnalysisPart):
    """Another way to the same answer. It never changes the verdict."""

    name: str = Field(description="e.g. 'bootstrap of deployments, then blocks', 'Mann-Whitney'")
    ci: tuple[float, float] | None = Field(description="95% interval of the ratio; null: a test")
    p: float | None = Field(description="p of no difference; null: an interval")
    agrees: bool = Field(
        description="false: it contradicts the effect's interval, or the difference that this "
        "shows, which the check `cross-checks` then says (docs/decisions/0006)"
    )


class Effect(AnalysisPart):
    """One treatment over the baseline on one metric, as a ratio with its 95% interval."""

    metric: str
    levels: dict[str, str] = Field(description="the treatment's factor levels")
    baseline: str = Field(description="baseline condition")
    treatment: str = Field(description="treatment condition")
    aa: bool = Field(description="both are the same setup under two names")
    over: list[str] = Field(
        default_factory=list, description="factors over whose levels it is averaged"
    )
    how: Literal["mean-of-ratios", "ratio-of-means", "model"] | None = Field(
        default=None, description="how it is averaged; null: it is no average"
    )
    ratio: float
    ci: tuple[float, float] = Field(description="95% interval of the ratio")
    ci90: tuple[float, float] = Field(description="90% interval, the one TOST uses")
    level: float = Field(
        default=0.95,
        description="nominal level of ci; above 0.95 where looks before the end share the error, "
        "so that the intervals of all looks together hold with 95%",
    )
    verdict: Verdict
    margin: float | None = Field(description="declared margin, e.g. 0.05; null: none declared")
    baseline_value: float = Field(
        description="in the metric's unit: geometric mean over trials; of averages by "
        "mean-of-ratios and ratio-of-means the arithmetic one"
    )
    treatment_value: float
    deployments: int = Field(description="independent units that the interval counts")
    blocks: int = Field(
        description="pairs (blocks) that entered; of independent repetitions, how many of each "
        "condition"
    )
    cells: int = Field(default=1, description="pairs of conditions that it averages")
    repetitions: int = Field(default=0, description="trials that entered, of both sides")
    unit_of_analysis: Literal["deployment", "block", "repetition"]
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
    crosschecks: list[CrossCheck] = Field(
        default_factory=list, description="bootstrap and rank test; they never change the verdict"
    )
    others: Others | None = Field(
        default=None,
        description="what others found of the same change; null: nothing near is known, or it was "
        "not looked up",
    )

    def conditions_of(self, side: str, levels: Mapping[str, Mapping[str, str]]) -> list[str]:
        """The conditions that a side, baseline or treatment, stands for: itself, or of an average
        those whose levels of the factors that remain, joined by dots, are its name.

        Args:
            levels: of every condition, by its name.
        """
        if side in levels:
            return [side]
        factors = self.levels
        return [
            name
            for name, own in levels.items()
            if factors and ".".join(own.get(factor, "") for factor in factors) == side
        ]

    @property
    def differs(self) -> bool:
        """The verdict is that there is a difference, whatever its size."""
        return self.verdict in ("different", "different within the margin")

    @property
    def within_margin(self) -> bool:
        """The verdict is that the margin holds, whether or not there is a difference."""
        return self.verdict in ("equivalent", "different within the margin")

    @property
    def rests_on_90(self) -> bool:
        """Within the margin by its 90% interval, while the 95% interval crosses the margin."""
        if self.margin is None or not self.within_margin:
            return False
        return self.ci[0] < 1 - self.margin or self.ci[1] > 1 + self.margin

    @property
    def rests_on_correction(self) -> bool:
        """The 95% interval excludes no change; corrected for multiplicity no difference remains."""
        return not self.ci[0] <= 1 <= self.ci[1] and not self.aa and not self.differs

    @property
    def difference(self) -> float:
        """Treatment less baseline in the metric's unit: the change times `baseline_value`."""
        return self.baseline_value * (self.ratio - 1)

    @property
    def difference_ci(self) -> tuple[float, float]:
        """95% interval of `difference`: the ratio's, times `baseline_value` as if that were known.

        Both sides share what they do not know of the baseline's own level; what that adds to the
        interval is as small a part of it as the difference is of the level.
        """
        low, high = self.ci
        return self.baseline_value * (low - 1), self.baseline_value * (high - 1)


class NoiseFloor(AnalysisPart):
    """How far apart identical conditions were (A/A)."""

    metric: str
    conditions: tuple[str, str]
    floor: float = Field(description="95th percentile of |log-ratio| over pairs, as a change")
    deployment_floor: float | None = Field(description="the same over deployment means")
    exceeds_margin: bool


class IdenticalSpread(AnalysisPart):
    """How far identical deployments differed: the noise that the intervals of a stratum rest on."""

    metric: str
    baseline: str = Field(description="of the stratum: what its conditions are compared with")
    sd: float = Field(
        description="standard deviation of log values between units of one condition, after what "
        "their round or block did to all conditions is taken away; about a fraction of the value"
    )
    df: float = Field(description="degrees of freedom of the sd")
    slices: float | None = Field(
        None,
        description="the part of the sd that the noise of single slices explains, which longer "
        "trials make smaller; sd\u00b2 - slices\u00b2 is the variance between units; "
        "null: not measured in slices",
    )
    unit: Literal["deployment", "trial", "repetition"] = Field(
        description="what differed: deployments, each the mean of its trials; trials of one "
        "deployment, where there is no other; or independent repetitions of an imported study"
    )


class VarianceRatio(AnalysisPart):
    """Whether a treatment is noisier than its baseline, not only slower."""

    metric: str
    levels: dict[str, str] = Field(description="the treatment's factor levels")
    over: list[str] = Field(description="factors over whose levels variances are pooled")
    baseline: str
    treatment: str
    aa: bool = Field(description="both are the same setup")
    ratio: float = Field(description="variance of log values, treatment over baseline")
    ci: tuple[float, float] = Field(description="95% interval of the ratio")
    p: float = Field(description="of equal variances")
    p_adjusted: float | None = Field(description="Benjamini-Hochberg; null: an A/A control")
    verdict: Literal["noisier", "quieter", "not told apart"]
    baseline_cv: float = Field(description="sd of the log values, about the variation coefficient")
    treatment_cv: float
    trials: int = Field(description="trials that entered, of both sides")
    method: str = Field(description="how the interval was made, one sentence")


class Interaction(AnalysisPart):
    """Whether the effect of what is compared depends on another factor."""

    metric: str
    compared: list[str] = Field(description="factors whose effect is asked for")
    by: str = Field(description="the factor on which it may depend")
    where: str = Field(default="", description="where it was asked; empty: in all conditions")
    test: Literal["F", "Wald F"] = Field(description="F: exact in a balanced design")
    statistic: float
    df: tuple[float, float] = Field(description="degrees of freedom, numerator and denominator")
    p: float
    p_adjusted: float = Field(description="Benjamini-Hochberg over all interactions")
    depends: bool = Field(description="p_adjusted is at most 5%")
    largest: float = Field(
        description="the largest ratio of two effects, treatment over baseline at one level of "
        "`by` over that at another"
    )
    largest_ci: tuple[float, float] = Field(
        description="its 95% interval, adjusted for having been chosen as the largest (Bonferroni)"
    )
    largest_of: str = Field(description="which treatment, and which two levels of `by`")
    sentence: str
    method: str
