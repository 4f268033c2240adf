"""The base of all parts of a study document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Callable


class StudyPart(BaseModel):
    """Base of all parts of a study: frozen, no unknown fields, no silent conversions."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, serialize_by_alias=True
    )


def unset(value: object) -> bool:
    """Whether a field is not written: documents, records and reports have only what applies."""
    return value is None or value in ("", [], {})


def usual(default: object) -> Callable[[object], bool]:
    """`unset` for a field whose default says something: it is not written if it has the default."""
    return lambda value: value == default
