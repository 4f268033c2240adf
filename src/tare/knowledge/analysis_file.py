"""Reads what a comparison needs of somebody's analysis.json, of whatever version it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from tare.errors import KnowledgeError
from tare.knowledge.schema import Text
from tare.study.quantities import size_in_words

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 200 * 1024**2


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class MeasuredTrial(_Loose):
    """One trial's values."""

    condition: Text
    deployment: str = ""
    status: str = "done"
    values: dict[Text, float]


class Measured(_Loose):
    """What is read of an analysis.json; the rest of it may be of any version."""

    study: str
    valid: bool
    trials: list[MeasuredTrial]
    provenance: dict[str, Any] = {}


def read_analysis(path: Path) -> Measured:
    """What is needed of an analysis.json.

    Raises:
        KnowledgeError: unreadable, too large, or no analysis.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise KnowledgeError(
            "cannot read the analysis",
            where=str(path),
            why=error.strerror or str(error),
            remedy="name the analysis.json of a run; `tare report RUN` writes it",
        ) from error
    if len(content) > MOST_BYTES:
        raise KnowledgeError(
            "too large for an analysis",
            where=str(path),
            why=f"more than {size_in_words(MOST_BYTES)}",
            remedy="name the analysis.json of a run",
        )
    try:
        return Measured.model_validate_json(content)
    except (ValidationError, RecursionError) as error:
        raise KnowledgeError(
            "not an analysis",
            where=str(path),
            why=str(error).partition("\n")[0],
            remedy="give the analysis.json of a run: `tare report RUN` writes it",
        ) from error
