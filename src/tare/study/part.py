"""The base of all parts of a study document."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class StudyPart(BaseModel):
    """Base of all parts of a study: frozen, no unknown fields, no silent conversions."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, serialize_by_alias=True
    )


def unsaid(value: object) -> bool:
    """Whether a field says nothing: left out where documents are written.

    For fields that younger versions added: without them a study, its digest and its records are
    byte for byte what older versions wrote.
    """
    return value is None or value == ""
