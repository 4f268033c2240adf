"""JSON Schema of dotted paths, such as `load.threads`: the value that each field takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Node = dict[str, Any]
_INSIDE = r"\."
_KEY = r"[^.]+"
_KEYS = r".+"
"""Keys of the database's own, and labels of machines, may contain dots."""


def dotted_fields(document: Node, fields: Iterable[str]) -> dict[str, Node]:
    """`patternProperties` for every path below these fields of the document.

    A path's value is checked by the schema of the field in its nested form.
    """
    found: dict[str, Node] = {}
    for name in fields:
        for path, schema in _below(re.escape(name), f"#/properties/{name}", document):
            found[f"^{path}$"] = schema
    return found


def _below(path: str, pointer: str, document: Node) -> Iterator[tuple[str, Node]]:
    for place in _mappings(pointer, document):
        node = _at(place, document)
        for key in node.get("properties", {}):
            inner = f"{place}/properties/{key}"
            yield f"{path}{_INSIDE}{re.escape(key)}", {"$ref": inner}
            yield from _below(f"{path}{_INSIDE}{re.escape(key)}", inner, document)
        for number, pattern in enumerate(node.get("patternProperties", {})):
            if number == 0:  # one kind of key: names of metrics
                value = node["patternProperties"][pattern]
                yield f"{path}{_INSIDE}{pattern.removeprefix('^').removesuffix('$')}", value
        free = node.get("additionalProperties", False)
        if isinstance(free, dict):
            inner = f"{place}/additionalProperties"
            below = [*_below(f"{path}{_INSIDE}{_KEY}", inner, document)]
            yield f"{path}{_INSIDE}{_KEY if below else _KEYS}", {"$ref": inner}
            yield from below
        elif free:
            yield f"{path}{_INSIDE}{_KEYS}", {}


def _mappings(pointer: str, document: Node) -> Iterator[str]:
    """Pointers to the schemas of the mappings that the field may hold."""
    node = _at(pointer, document)
    if "$ref" in node:
        yield from _mappings(node["$ref"], document)
    for number, _ in enumerate(node.get("anyOf", ())):
        yield from _mappings(f"{pointer}/anyOf/{number}", document)
    if node.get("type") == "object":
        yield pointer


def _at(pointer: str, document: Node) -> Any:
    node: Any = document
    for part in pointer.removeprefix("#/").split("/"):
        node = node[int(part)] if isinstance(node, list) else node[part]
    return node
