"""Parts of the analysis document: what was planned and could not be run."""

from __future__ import annotations

from pydantic import Field

from tare.analysis.model.base import AnalysisPart


class LeftOut(AnalysisPart):
    """A condition of the study that was not run, and why."""

    condition: str
    levels: dict[str, str]
    why: str = Field(description="what this version, or the machine of the run, could not run")
    remedy: str = Field(description="what would make it run")


class NotCompared(AnalysisPart):
    """A comparison of the study that lacks conditions which were left out."""

    treatment: str
    baseline: str
    left_out: list[str] = Field(description="the conditions that it lacks")
    partly: bool = Field(
        description="it is an average, and there is one over the pairs of conditions that remain"
    )
