"""Reads the fields of another's analysis.json that a comparison needs, in any version of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from tare.errors import KnowledgeError
from tare.knowledge.schema import Text
from tare.study.named_file import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 256 * 2**20
"""Size of an `analysis.json`; 10,000 trials with their series have about half."""


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class MeasuredTrial(_Loose):
    """One trial's values."""

    condition: Text
    deployment: str = ""
    status: str = "done"
    values: dict[Text, float]


class LooseAnalysis(_Loose):
    """What is read of an analysis.json; the rest of it may be of any version."""

    study: str
    valid: bool
    trials: list[MeasuredTrial]
    provenance: dict[str, Any] = {}


def read_analysis(path: Path) -> LooseAnalysis:
    """The needed fields of an analysis.json.

    Raises:
        KnowledgeError: unreadable, too large, or no analysis.
    """
    content = read_bytes(
        path,
        MOST_BYTES,
        "an analysis",
        KnowledgeError,
        missing="name the analysis.json of a run; `tare report RUN` writes it",
        too_large="name the analysis.json of a run",
    )
    try:
        return LooseAnalysis.model_validate_json(content)
    except (ValidationError, RecursionError) as error:
        raise KnowledgeError(
            "not an analysis",
            where=str(path),
            why=str(error).partition("\n")[0],
            remedy="give the analysis.json of a run: `tare report RUN` writes it",
        ) from error
