"""The scorecard as a document, one row per published finding: what `replicate --json` prints."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tare.analysis.model.bill import Bill
from tare.enumeration import count

Agreement = Literal["agrees", "disagrees", "undecided", "not run here"]
VERDICTS: tuple[Agreement, ...] = ("agrees", "disagrees", "undecided", "not run here")


class _Part(BaseModel):
    # infinities are written as strings: a band may be open at one end
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class Band(_Part):
    """The ratios that would agree with a finding."""

    low: float = Field(description="0: open")
    high: float = Field(description="infinity: open")
    basis: str = Field(description="what it rests on: a margin, a published interval, a direction")


class Published(_Part):
    """What the source states."""

    text: str = Field(description="the change as a reader sees it")
    ratio: float | None = Field(description="treatment over baseline; null: no number")
    direction: str
    points: bool = Field(
        default=False, description="the source prints the difference, in percentage points"
    )
    band: Band | None = Field(description="null: it states nothing that could be compared")


class Ours(_Part):
    """What the run found."""

    ratio: float
    ci: tuple[float, float] = Field(description="95% interval of the ratio")
    baseline_value: float = Field(description="in the metric's unit")
    treatment_value: float
    sd_log: float = Field(description="sd of the log-ratio between units of analysis")
    units: int = Field(description="units of analysis that the interval counts")
    unit: Literal["deployment", "block", "repetition"]
    conditional: bool = Field(description="of these very deployments only")
    cells: int = Field(description="pairs of conditions that entered")
    of: int = Field(description="pairs of conditions that the finding speaks of")
    method: str


class Further(_Part):
    """What would likely decide."""

    units: int | None = Field(description="units of analysis more; null: more than anybody runs")
    unit: Literal["deployment", "block", "repetition"]

    @property
    def words(self) -> str:
        """needs 3 more blocks."""
        if self.units is None:
            return f"no number of {self.unit}s that anybody runs would decide"
        return f"needs {count(self.units, f'more {self.unit}')}"


class Row(_Part):
    """One published finding."""

    finding: str = Field(description="its id in the knowledge base")
    group: str = Field(description="the table, figure or section that prints it")
    where: str = Field(description="its place there")
    metric: str
    compared: str = Field(description="treatment over baseline, and the load, in words")
    published: Published
    ours: Ours | None = Field(description="null: not run here")
    verdict: Agreement
    further: Further | None = Field(description="of undecided ones")
    bill: Bill | None = Field(
        default=None,
        description="of undecided ones: what prices predict for the service demand of the same "
        "conditions, and what was measured of that; null: no_bill says why",
    )
    no_bill: str = Field(
        default="", description="why an undecided one has no bill; empty: it has, or is decided"
    )
    reason: str = Field(description="why it was not run here; empty: it was")
    notes: list[str] = Field(description="what the comparison only partly covers")


class Scorecard(_Part):
    """A run beside the findings of the study that it repeats."""

    format: Literal[1] = 1
    study: str
    source: str = Field(description="id of the study whose findings these are")
    title: str = Field(description="of the published work")
    run: str
    scale: str = Field(description="empty: the study as its file says")
    only: dict[str, list[str]] = Field(description="levels that were selected; empty: all")
    valid: bool = Field(description="of the run's own checks")
    problems: list[str] = Field(
        description="why it is not valid; where it is, what makes it doubtful"
    )
    counts: dict[Agreement, int]
    differs: list[str] = Field(description="in what the run differs from the source in all rows")
    rows: list[Row]

    @property
    def summary(self) -> str:
        """The first line: the counts, and whether the run is valid."""
        counted = ", ".join(f"{self.counts[verdict]} {plural_of(verdict)}" for verdict in VERDICTS)
        state = "The run is valid." if self.valid else "The run is NOT valid."
        return f"{counted}, of {len(self.rows)} findings of {self.source}. {state}"


def plural_of(verdict: Agreement) -> str:
    """The verdict behind a number: 3 agree."""
    return {"agrees": "agree", "disagrees": "disagree"}.get(verdict, verdict)


def count_verdicts(rows: list[Row]) -> dict[Agreement, int]:
    """How many rows have each verdict."""
    found = Counter(row.verdict for row in rows)
    return {verdict: found[verdict] for verdict in VERDICTS}
