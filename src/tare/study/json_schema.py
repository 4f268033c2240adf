"""The JSON Schema of a study file, for editors: draft 2020-12."""

from __future__ import annotations

from typing import Any

from tare.study.quantities import NAME_PATTERN, SCALAR_SCHEMA
from tare.study.scale_rules import FIELDS, PARTS
from tare.study.schema import LEVELS_SCHEMA, Setup, Study

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DOTTED = rf"^({'|'.join(Setup.model_fields)})(\.[^.]+)+$"


def schema() -> dict[str, Any]:
    """The JSON Schema of a study file, draft 2020-12.

    It knows a level's patch both nested (as the setup's own fields, all optional) and as dotted
    paths; what the fields of a dotted path are is for `load_study` to say.
    """
    document = Study.model_json_schema(mode="validation")
    properties = document["properties"]
    patch = {
        "description": "the changes that this level makes to the base document",
        "type": ["object", "null"],
        "properties": {name: _no_default(properties[name]) for name in Setup.model_fields},
        "patternProperties": {_DOTTED: {}},
        "additionalProperties": False,
    }
    document["$defs"] |= {"Patch": patch, "Scale": _scale(properties)}
    properties["margins"] |= {"additionalProperties": False}
    properties["factors"] |= _named(_named({"$ref": "#/$defs/Patch"}))
    properties["baseline"] |= _named(SCALAR_SCHEMA)
    properties["exclude"] |= {"items": {"type": "object", **_named(LEVELS_SCHEMA)}}
    properties["only"] |= _named(LEVELS_SCHEMA)
    properties["scales"] |= _named({"$ref": "#/$defs/Scale"})
    document["properties"] = {"study": properties.pop("study"), **properties}
    return {"$schema": DIALECT, **document, "title": "Tare study"}


def _scale(properties: dict[str, Any]) -> dict[str, Any]:
    """A scale: a patch over the parts in which it may set something, and over levels."""
    parts = sorted({str(path[0]) for path in (*FIELDS, *PARTS)})
    levels = _no_default(properties["factors"]) | _named(_named({"$ref": "#/$defs/Patch"}))
    return {
        "description": "the changes that this scale makes to the study",
        "type": ["object", "null"],
        "properties": {
            **{name: _no_default(properties[name]) for name in parts},
            "factors": levels,
        },
        "patternProperties": {rf"^({'|'.join([*parts, 'factors'])})(\.[^.]+)+$": {}},
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
