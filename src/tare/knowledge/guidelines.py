"""The rules of the literature on when a benchmark may run in containers, each with its source."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal

from pydantic import Field

from tare.knowledge.schema import KnowledgePart
from tare.study.document import parse_document

Purpose = Literal[
    "compare-systems", "absolute-values", "compare-configurations", "track-changes", "always"
]
PURPOSES: tuple[Purpose, ...] = (
    "compare-systems",
    "absolute-values",
    "compare-configurations",
    "track-changes",
)


class Threshold(KnowledgePart):
    """A relative difference, as the range in which the source puts it."""

    low: float
    high: float


class Rule(KnowledgePart):
    """One rule."""

    id: str
    purpose: Purpose = Field(description="what a benchmark is for")
    source: str
    threshold: Threshold | None = None
    answer: Literal["with a condition", "as in production", "no", "always"]
    text: str


@cache
def load_rules() -> tuple[Rule, ...]:
    """All rules that come with Tare, in the order of their source."""
    file = resources.files("tare.knowledge") / "rules.yaml"
    data = parse_document(file.read_text(encoding="utf-8"), "rules.yaml").data
    return tuple(Rule.model_validate(one) for one in data["rules"])
