"""Parts of the analysis document: what changed together with the effects."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.analysis.model.base import AnalysisPart
from tare.analysis.model.effects import Metric


class CountChange(AnalysisPart):
    """A count per operation on both sides of a comparison, and the difference with its interval."""

    metric: Metric
    baseline: float = Field(description="mean over trials, in the metric's unit")
    treatment: float
    difference: float = Field(description="treatment minus baseline, in the metric's unit")
    ci: tuple[float, float] = Field(description="95% interval of the difference")
    clear: bool = Field(
        description="the interval excludes 0 also after an adjustment for how many are listed"
    )


class CostPart(CountChange):
    """One part of a CPU time per operation that divides into parts."""

    share: float | None = Field(
        default=None,
        description="of the whole's difference, as a fraction; null: the whole did not clearly "
        "change, so that there is nothing to share out",
    )
    share_ci: tuple[float, float] | None = Field(
        default=None, description="95% interval of the share; null: fewer than three units"
    )


class CostSplit(AnalysisPart):
    """A CPU time per operation and the parts that add up to it, for one comparison."""

    by: Literal["mode", "unit", "thread"] = Field(
        description="mode: service demand by the kernel's modes; unit: service demand by who used "
        "it; thread: the database's, by what its threads are for"
    )
    whole: CountChange
    parts: list[CostPart]


class BesideChange(CountChange):
    """A count per operation that changed, or not, together with an effect."""

    ratio: float | None = Field(description="treatment over baseline; null: one of them is 0")
    correlation: dict[str, float] = Field(
        default_factory=dict,
        description="metric to Pearson's r of its log-ratios with this count's, over blocks, "
        "after their rounds' means are taken away; empty: too few pairs",
    )


class Why(AnalysisPart):
    """What changed together with the effects of one treatment."""

    baseline: str
    treatment: str
    aa: bool
    conditional: bool = Field(description="one deployment only, as in the effects")
    units: int = Field(description="independent units that the intervals count")
    unit_of_analysis: Literal["deployment", "block", "repetition"]
    splits: list[CostSplit]
    beside: list[BesideChange]
    sentences: list[str] = Field(description="what of it can be said")
