"""The JSON Schemas of documents that Tare writes: analyses, comparisons, manifests and prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema

from tare.analysis.comparison.model import RunComparison
from tare.analysis.model import Analysis
from tare.records.manifest import TrialManifest
from tare.records.part_prices import PartWeighing
from tare.records.prices import Weighing

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NOT_FINITE = ("Infinity", "-Infinity", "NaN")
"""Texts in the files for the numbers that JSON does not have."""

DOCUMENTS: dict[str, tuple[type[BaseModel], str]] = {
    "analysis": (Analysis, "Tare analysis"),
    "comparison": (RunComparison, "Tare comparison"),
    "manifest": (TrialManifest, "Tare trial manifest"),
    "prices": (Weighing, "Tare prices"),
    "part-prices": (PartWeighing, "Tare prices of parts"),
}


class _Written(GenerateJsonSchema):
    """Documents as written: with every field, and with texts for numbers that are not finite."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        return True  # a default is written too

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return {"anyOf": [super().float_schema(schema), {"enum": list(NOT_FINITE)}]}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema, draft 2020-12, of the document of this name.

    Later versions may add fields, so readers must ignore fields that they do not know; the schema
    allows them.

    Raises:
        KeyError: there is no such document.
    """
    model, title = DOCUMENTS[name]
    document = model.model_json_schema(mode="serialization", schema_generator=_Written)
    return {"$schema": DIALECT, **_open(document), "title": title}


def _open(value: Any) -> Any:
    """The schema without the refusal of unknown fields, which holds only for this version."""
    if isinstance(value, dict):
        closed = value.get("additionalProperties") is False
        return {k: _open(v) for k, v in value.items() if not (closed and k == _CLOSED)}
    if isinstance(value, list):
        return [_open(item) for item in value]
    return value


_CLOSED = "additionalProperties"
