"""Where each field of a study was written: the lines that errors point at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FieldPath = tuple[str | int, ...]
"""Keys and list indices from the document's root, e.g. ("load", "threads")."""


@dataclass(frozen=True)
class Origins:
    """Where each field of a study was written. No part of a study's identity."""

    at: Mapping[FieldPath, str] = field(default_factory=dict, compare=False)
    patched: frozenset[FieldPath] = field(default=frozenset(), compare=False)
    """the fields that a level's patch set, rather than the base document"""
    scaled: frozenset[FieldPath] = field(default=frozenset(), compare=False)
    """the fields of the base document that a scale set"""

    def of(self, path: FieldPath) -> str:
        """ "file:line" of the field, else of the nearest field around it, else ""."""
        for length in range(len(path), -1, -1):
            if (where := self.at.get(path[:length])) is not None:
                return where
        return ""
