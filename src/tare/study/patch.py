"""Levels as patches: nested or dotted paths laid over the base document."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare.study.short_forms import in_full

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tare.study.origins import FieldPath

# Below these, keys are the database's own, or labels of machines, and may contain dots.
LABELS: FieldPath = ("platform", "placement", "node_selector")
FREE_MAPPINGS: frozenset[FieldPath] = frozenset(
    {("database", "settings"), ("database", "compaction", "options"), LABELS}
)


@dataclass(frozen=True)
class Assignment:
    """One field that a patch sets.

    Attributes:
        path: the field in the base document, e.g. ("load", "threads").
        value: a scalar or a list; an empty mapping sets nothing.
        written: the keys as the patch has them, e.g. ("load.threads",).
    """

    path: FieldPath
    value: Any
    written: FieldPath

    @property
    def sets(self) -> bool:
        """False for an empty mapping, which only names its field."""
        return self.value != {} or not isinstance(self.value, dict)


def path_of(dotted: str, above: FieldPath = ()) -> FieldPath:
    """The field that a dotted text names below another; what follows LABELS is one label."""
    path = (*above, *dotted.split("."))
    if path[: len(LABELS)] != LABELS or len(path) == len(LABELS):
        return path
    return (*LABELS, ".".join(map(str, path[len(LABELS) :])))


def assignments(patch: Mapping[str, Any]) -> Iterator[Assignment]:
    """The fields that the patch sets, in its own order; mappings are walked, lists are not.

    A word that stands for several fields sets each of them.
    """
    yield from _walk(patch, (), ())


def _walk(patch: Mapping[str, Any], path: FieldPath, written: FieldPath) -> Iterator[Assignment]:
    free = any(path[: len(known)] == known for known in FREE_MAPPINGS)
    for key, value in patch.items():
        below = (*path, key) if free else path_of(key, path)
        fields = in_full(below, value)
        if fields is not value:
            for name, each in fields.items():
                yield Assignment((*below, name), each, (*written, key))
        elif isinstance(value, dict) and value:
            yield from _walk(value, below, (*written, key))
        else:
            yield Assignment(below, value, (*written, key))


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one; the schema refuses any other value."""
    return value if isinstance(value, dict) else {}


def apply(base: Mapping[str, Any], changes: Iterable[Assignment]) -> dict[str, Any]:
    """A copy of the base document with the changes made. Lists and scalars are replaced whole."""
    document = copy.deepcopy(dict(base))
    for change in changes:
        place = document
        for key in change.path[:-1]:
            inner = place.get(str(key))
            if not isinstance(inner, dict):
                inner = place[str(key)] = {}
            place = inner
        last = str(change.path[-1])
        if change.sets or not isinstance(place.get(last), dict):
            place[last] = copy.deepcopy(change.value)
    return document
