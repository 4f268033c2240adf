"""Parts of the analysis document: what a platform should cost by its prices, beside what it did."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.analysis.model.base import AnalysisPart

BillVerdict = Literal["consistent", "contradicted", "bill only", "in part"]


class BillLine(AnalysisPart):
    """One part of the predicted difference, in microseconds per operation."""

    what: str = Field(description="what is paid for")
    count: float = Field(description="how often per operation; below 0: saved")
    unit: str = Field(description="of what there are so many")
    price_us: float = Field(description="microseconds for one")
    us: float = Field(description="count times price")
    ci: tuple[float, float] = Field(description="95% interval of us")


class BillOwner(AnalysisPart):
    """What one owner of CPU time should use more, and did: microseconds per operation."""

    owner: Literal["server", "client", "engine", "kernel", "softirq"] = Field(
        description="the database's units; the clients; the container engine's processes; the "
        "kernel's own threads, of trials with all that nobody who is watched used; softirq: no "
        "owner, but what of all these was spent in soft interrupts, of trials in interrupts too"
    )
    us: float = Field(
        description="by prices: of the ways, and of servers and clients what they do beside their "
        "packets; without answers that are batched less or more"
    )
    ci: tuple[float, float] = Field(description="95% interval of us")
    measured_us: float
    measured_ci: tuple[float, float] = Field(description="95% interval of measured_us")


class Bill(AnalysisPart):
    """Service demand of a treatment over its baseline: predicted from prices, and as measured.

    Neither ever stands in for the other.
    """

    baseline: str
    treatment: str
    lines: list[BillLine]
    us: float = Field(description="the sum of the lines: predicted difference per operation")
    ci: tuple[float, float] = Field(description="95% interval of us")
    baseline_us: float = Field(description="service demand of the baseline, as measured")
    measured_us: float = Field(description="the difference as measured")
    measured_ci: tuple[float, float] = Field(description="95% interval of measured_us")
    verdict: BillVerdict = Field(
        description="consistent: the two intervals overlap; contradicted: they do not; bill only: "
        "what was measured does not decide at its margin; in part: packets pass that no price is "
        "of, so that the two are not the same thing"
    )
    unexplained_us: float = Field(
        description="measured less predicted: what nobody weighed, where contradicted or in part"
    )
    unpriced: list[str] = Field(
        default_factory=list, description="what no line is of; empty: everything has one"
    )
    owners: list[BillOwner] = Field(
        default_factory=list, description="where the two agree, and where they do not"
    )
    notes: list[str] = Field(default_factory=list, description="what limits the prediction")
    left_out: dict[str, str] = Field(
        default_factory=dict,
        description="cold caches, and what servers and clients do beside their packets, such as "
        "context switches, of which no line is, and why: no price or no count",
    )


class NoBill(AnalysisPart):
    """A measured difference of service demand without a bill."""

    baseline: str
    treatment: str
    why: str


class Bills(AnalysisPart):
    """The bills of a run, and the prices that they are made from."""

    of: list[Bill]
    without: list[NoBill] = Field(
        default_factory=list, description="differences that have none, and why"
    )
    made: str = Field(description="when the prices were weighed, ISO 8601")
    row_bytes: int = Field(description="of the rows that the prices were weighed with")
    in_flight: list[int] = Field(description="operations at once, likewise")
    rounds: int
    doubts: list[str] = Field(
        default_factory=list, description="what speaks against the prices; empty: nothing does"
    )
    working_made: str | None = Field(
        None,
        description="when ways to servers that work for each request were weighed, ISO 8601; null: "
        "they were not",
    )
    parts_made: str | None = Field(
        None,
        description="when system calls, switches, faults and syncs were weighed, ISO 8601; null: "
        "they were not",
    )
    counting_us: float | None = Field(
        None,
        description="microseconds by which an operation was dearer in the slices of the warm-up, "
        "in which alone system calls were counted, than in the measured ones; null: not counted",
    )
