"""Writes a knowledge file: only fields that say something, in the order of the schema."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

if TYPE_CHECKING:
    from tare.knowledge.schema import KnowledgeFile

_WIDTH = 96


def knowledge_yaml(content: KnowledgeFile, heading: str) -> str:
    """The file's text; `read_knowledge` gives the same content back.

    Args:
        heading: one line, written as a comment on top.
    """
    plain = content.model_dump(mode="json", exclude_defaults=True)
    document = {
        "format": content.format,
        "work": plain["work"],
        "groups": [{"findings": plain.get("findings", [])}],
    }
    yaml = YAML()
    yaml.width = _WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    text = io.StringIO()
    yaml.dump(_laid_out(document, top=True), text)
    lines = [f"# {' '.join(heading.split())}", *text.getvalue().splitlines()]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _laid_out(value: Any, *, top: bool = False) -> Any:
    """Mappings and lists of plain values on one line where they fit."""
    if isinstance(value, dict):
        mapping = CommentedMap((key, _laid_out(part)) for key, part in value.items())
        if not top and value and _short(value.values()):
            mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, list):
        sequence = CommentedSeq(_laid_out(part) for part in value)
        if value and _short(value):
            sequence.fa.set_flow_style()
        return sequence
    return value


def _short(values: Any) -> bool:
    parts = list(values)
    flat = all(
        isinstance(part, (str, int, float, bool, type(None)))
        or (isinstance(part, list) and all(isinstance(one, (int, float)) for one in part))
        for part in parts
    )
    return flat and sum(len(str(part)) + 12 for part in parts) < _WIDTH
