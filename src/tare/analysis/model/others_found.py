"""Parts of the analysis document: what others found of the change that an effect is about."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.analysis.model.base import AnalysisPart


class OtherFinding(AnalysisPart):
    """One published effect, or one of the user's own earlier runs, and how near it is."""

    id: str = Field(description="its name in the knowledge base: `tare findings show ID`")
    study: str
    metric: str = Field(description="what was measured; its kind is that of the effect's metric")
    ratio: float | None = Field(description="treatment over baseline; null: no single number")
    low: float | None = Field(description="lower end of a stated range of the ratio")
    high: float | None = Field(description="upper end of a stated range of the ratio")
    ci: tuple[float, float] | None = Field(description="95% interval of the ratio, where known")
    digits: tuple[float, float] | None = Field(
        default=None,
        description="all ratios that the digits printed there allow, where these are far apart",
    )
    direction: Literal["higher", "lower", "none", "varies"] = Field(
        description="of the treatment's value"
    )
    word: Literal["alike", "near", "related"] = Field(description="the distance in a word")
    distance: float = Field(description="of its conditions from the effect's, 0 to 1 (Gower)")
    differs: list[str] = Field(description="in what they differ, the weightiest first")
    source: str = Field(description="where it is printed: study, section, table, row")
    contradicted: bool = Field(
        description="another statement of the same source does not agree with it"
    )


class OtherRange(AnalysisPart):
    """What several studies found together; every study counts once."""

    ratio: float
    ci: tuple[float, float] = Field(description="95% interval of the mean ratio")
    prediction: tuple[float, float] = Field(
        description="95% interval for the ratio that another such study would find"
    )


class Others(AnalysisPart):
    """What is known of the same change on the same kind of metric, near enough to count."""

    findings: int = Field(
        description="how many are related or nearer; those about the same conditions count once"
    )
    studies: int = Field(description="how many studies they come from")
    nearest: list[OtherFinding] = Field(
        description="the nearest finding of each study, the nearest study first"
    )
    seen: tuple[float, float] | None = Field(
        description="least and greatest ratio among the nearest findings of all studies; null: "
        "none states a number"
    )
    pooled: OtherRange | None = Field(description="null: too few studies")
    method: str = Field(description="how the range was made, or why there is none")
