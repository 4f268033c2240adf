"""Part of the analysis document: a way into a server, over the platform's own baseline."""

from __future__ import annotations

from pydantic import Field

from tare.analysis.model.base import AnalysisPart


class ChainLink(AnalysisPart):
    """One comparison of a chain, as it stands among the effects."""

    baseline: str
    treatment: str
    ratio: float
    ci: tuple[float, float] = Field(description="interval of the ratio, at the chain's level")


class Chain(AnalysisPart):
    """From a baseline to another server, then by one of its ways: what both cost in all.

    The interval is of the whole, from the same rounds: what the server's first way had of chance
    is in both links, once each way, and in none of the whole.
    """

    metric: str
    levels: dict[str, str] = Field(description="the last condition's factor levels")
    baseline: str = Field(description="condition that the chain begins at")
    through: str = Field(description="condition that both links share: the server's first way")
    treatment: str = Field(description="condition that the chain ends at")
    links: list[ChainLink] = Field(description="the server over the baseline, then the way")
    ratio: float = Field(description="treatment over baseline")
    ci: tuple[float, float] = Field(description="interval of the ratio")
    level: float = Field(default=0.95, description="nominal level of the intervals")
    baseline_value: float = Field(description="in the metric's unit, as of effects")
    treatment_value: float
    deployments: int = Field(description="independent units that the interval counts")
    method: str = Field(description="how the interval was made, one sentence")
