"""The JSON Schema of a study file, for editors: draft 2020-12."""

from __future__ import annotations

from typing import Any

from tare.study.dotted_schema import dotted_fields
from tare.study.quantities import NAME_PATTERN, SCALAR_SCHEMA
from tare.study.scale_rules import FIELDS, PARTS
from tare.study.schema import LEVELS_SCHEMA, Setup, Study

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MARGIN = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "string", "pattern": r"^(?=.*[1-9])[0-9]{0,2}(\.[0-9]+)? ?%$"},
    ],
    "unit": "fraction",
    "examples": ["5%", "0.05"],
}
"""More than none and less than all: `10` is no tenth."""


def schema() -> dict[str, Any]:
    """The JSON Schema of a study file, draft 2020-12.

    It knows a level's patch both nested (as the setup's own fields, all optional) and as dotted
    paths at its top. Where there are factors, there is a baseline; `load_study` checks which
    levels it names.
    """
    document = Study.model_json_schema(mode="validation")
    properties = document["properties"]
    margins = properties["margins"]
    margins["patternProperties"] = dict.fromkeys(margins["patternProperties"], _MARGIN)
    patch = {
        "description": "the changes that this level makes to the base document",
        "type": ["object", "null"],
        "properties": {name: _no_default(properties[name]) for name in Setup.model_fields},
        "patternProperties": dotted_fields(document, Setup.model_fields),
        "additionalProperties": False,
    }
    document["$defs"] |= {"Patch": patch, "Scale": _scale(document)}
    properties["margins"] |= {"additionalProperties": False}
    properties["factors"] |= _named(_named({"$ref": "#/$defs/Patch"}) | {"minProperties": 1})
    properties["baseline"] |= _named(SCALAR_SCHEMA)
    properties["exclude"] |= {"items": {"type": "object", **_named(LEVELS_SCHEMA)}}
    properties["only"] |= _named(LEVELS_SCHEMA)
    properties["scales"] |= _named({"$ref": "#/$defs/Scale"})
    document["properties"] = {"study": properties.pop("study"), **properties}
    varied = {"properties": {"factors": {"minProperties": 1}}, "required": ["factors"]}
    compared = {"properties": {"baseline": {"minProperties": 1}}, "required": ["baseline"]}
    return {
        "$schema": DIALECT,
        **document,
        "title": "Tare study",
        "if": varied,
        "then": compared,
    }


def _scale(document: dict[str, Any]) -> dict[str, Any]:
    """A scale: a patch over the parts in which it may set something, and over levels."""
    properties = document["properties"]
    parts = sorted({str(path[0]) for path in (*FIELDS, *PARTS)})
    levels = _no_default(properties["factors"]) | _named(_named({"$ref": "#/$defs/Patch"}))
    return {
        "description": "the changes that this scale makes to the study",
        "type": ["object", "null"],
        "properties": {
            **{name: _no_default(properties[name]) for name in parts},
            "factors": levels,
        },
        "patternProperties": {
            **dotted_fields(document, parts),
            r"^factors\.[^.]+$": _named({"$ref": "#/$defs/Patch"}),
            r"^factors\.[^.]+\.[^.]+$": {"$ref": "#/$defs/Patch"},
            r"^factors\.[^.]+\.[^.]+\..+$": {},
        },
        "additionalProperties": False,
    }


def _named(value: dict[str, Any]) -> dict[str, Any]:
    """A mapping from names to such values."""
    return {
        "type": "object",
        "propertyNames": {"pattern": NAME_PATTERN},
        "additionalProperties": value,
    }


def _no_default(property_: dict[str, Any]) -> dict[str, Any]:
    """The field without its default, which a patch does not bring in."""
    return {key: value for key, value in property_.items() if key != "default"}
