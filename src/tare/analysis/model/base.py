"""The base of all parts of the analysis document."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Verdict = Literal["equivalent", "different within the margin", "different", "inconclusive"]


class AnalysisPart(BaseModel):
    """Base of all parts of an analysis."""

    model_config = ConfigDict(extra="forbid")
