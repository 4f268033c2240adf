"""Small knowledge for tests: one finding that each test can change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.knowledge.advice_text import following_lines, found_lines
from tare.knowledge.library import Entry, Library
from tare.knowledge.read import laid_over
from tare.knowledge.schema import Finding, Work

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.knowledge.advice import Advice

BASE: dict[str, Any] = {
    "id": "one",
    "study": "study-a",
    "database": "cassandra",
    "version": "5.0.9",
    "nodes": 1,
    "baseline": {"runtime": "native", "network": "host", "client": "native"},
    "treatment": {"runtime": "docker", "network": "bridge", "client": "native"},
    "workload": ["ycsb-a"],
    "operation": "update",
    "load": {"share": 1.0},
    "metric": "update.mean",
    "unit": "ms",
    "values": {"baseline": 2.0, "treatment": 2.2},
    "effect": {"ratio": 1.1, "direction": "higher", "how": "two values"},
    "hardware": "a machine",
    "source": {"table": "1"},
}


def finding(**changes: Any) -> Finding:
    """The sample finding with these fields replaced."""
    return Finding.model_validate(laid_over(BASE, changes))


def changed(percent: float, **changes: Any) -> Finding:
    """A finding whose source prints only the change."""
    effect = {
        "ratio": round(1 + percent / 100, 4),
        "direction": "higher" if percent > 0 else "lower" if percent < 0 else "none",
        "how": "printed",
        "printed": percent,
        "printed_as": "percent",
    }
    data = {key: value for key, value in BASE.items() if key != "values"}
    return Finding.model_validate(laid_over(laid_over(data, {"effect": effect}), changes))


def library(findings: Iterable[Finding]) -> Library:
    """A library of just these findings."""
    work = Work(id="study-a", title="A study")
    return Library({one.id: Entry(one, work, "shipped") for one in findings})


def advice_lines(advice: Advice) -> list[str]:
    """The whole text of one answer, as `tare advise` prints it."""
    return [*found_lines(advice), *following_lines(advice)]
