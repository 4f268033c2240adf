"""The maximum that a condition's load refers to, as it was found before the trials."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class MaximumInterval(BaseModel):
    """A number with its 95% interval."""

    model_config = ConfigDict(extra="forbid")

    estimate: float
    low: float
    high: float


class Fraction(BaseModel):
    """A share of the highest throughput, and the load that gives it."""

    model_config = ConfigDict(extra="forbid")

    fraction: float
    level: float = Field(description="threads or operations/s that give it")
    throughput: MaximumInterval = Field(description="operations/s")


class Maximum(BaseModel):
    """What a search for the maximum found."""

    model_config = ConfigDict(extra="forbid")

    of: str = Field(description="the condition that was searched")
    by: Literal["threads", "rate"] = Field(description="what was varied")
    verdict: Literal["found", "undecided", "client_limit"]
    reasons: list[str] = Field(description="why the answer is not what was wished; else empty")
    within: float = Field(description="wished half width of the interval, over the estimate")
    level: MaximumInterval | None = Field(description="threads or operations/s of the maximum")
    throughput: MaximumInterval | None = Field(description="operations/s at the maximum")
    fractions: list[Fraction] = []
    steps: int = Field(description="measurements that were made")
    spent_s: float = Field(description="how long the search took, seconds")

    def at(self, share: float) -> float:
        """Threads or rate that give this share of the maximum."""
        for one in self.fractions:
            if abs(one.fraction - share) < 1e-9:
                return one.level
        return (self.level.estimate if self.level else 0.0) * share

    def words(self, share: float, level: float) -> str:
        """One sentence about what a share of it came to."""
        unit = "threads" if self.by == "threads" else "operations/s"
        most = self.throughput
        said = f"{share:.0%} of the maximum of {self.of} is {level:,.0f} {unit}"
        if most is not None:
            said += (
                f"; the maximum is {most.estimate:,.0f} operations/s "
                f"[{most.low:,.0f}, {most.high:,.0f}]"
            )
        if self.verdict != "found":
            said += f"; undecided: {'; '.join(self.reasons)}"
        return said
