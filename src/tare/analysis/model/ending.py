"""Parts of the analysis document: how the run ended, and what more would decide it."""

from __future__ import annotations

from pydantic import Field

from tare.analysis.model.base import AnalysisPart
from tare.records.looks import Look, Why


class Ending(AnalysisPart):
    """How a run ended that was looked at before, or extended."""

    rounds: int = Field(description="rounds that count")
    planned: int = Field(description="rounds at most")
    why: Why = Field(
        description="planned: a look before the last round; end: the last round; time: at_most"
    )
    decided: bool | None = Field(description="every primary comparison has a verdict")
    looks: list[Look]
    level: float = Field(description="nominal level of the intervals")
    tost_level: float = Field(description="nominal level of the intervals that TOST uses")
    false_alarms_if_all_believed: float | None = Field(
        description="where the run was extended after all of the error was spent: chance of a "
        "false alarm, per comparison, for whoever believed the earlier end's verdict, too"
    )


class Extension(AnalysisPart):
    """What should decide the primary comparisons that are open."""

    rounds: int = Field(description="in all")
    now: int = Field(description="rounds that there are")
    seconds: float = Field(description="that the further rounds take, at the pace of those before")
    command: str = Field(description="that extends the run; empty: not known")
    left_open: int = Field(
        default=0,
        description="primary comparisons for which so many rounds are not enough: more than 100 "
        "further ones would be needed, or nobody can say how many",
    )


class Allocation(AnalysisPart):
    """A better use of the time that a run in slices took, by its own noise."""

    metric: str = Field(
        description="by whose noise: of the primary metrics that were measured in slices the one "
        "that gains least"
    )
    now: int = Field(description="rounds that there are")
    rounds: int = Field(description="that would have taken as long")
    share: float = Field(description="of its present load.measure that each would have")
    measure_s: float | None = Field(
        description="load.measure of each, seconds; null: levels of the study set several"
    )
    apart: float = Field(
        description="half-widths of comparisons between deployments, over those of this run"
    )
    inside: float = Field(description="the same of comparisons inside one deployment")
