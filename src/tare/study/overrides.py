"""`--set a.b=c`: fields of the document that the command line replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.errors import StudyError
from tare.study.document import parse_document
from tare.study.patch import path_of
from tare.study.short_forms import write_in_full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.study.document import Document


OPTIONS = {
    "scale": "choose one by --scale NAME",
    "scales": "choose one by --scale NAME, and override the fields that it sets",
}
"""Fields that an option of the command line sets instead."""


def override(document: Document, overrides: Sequence[str]) -> None:
    """Sets each "a.b=c" in the document, in order; the value is YAML.

    The schema checks that the field exists, with this override as the place.

    Raises:
        StudyError: no "=", a value that is not YAML, an index outside a list.
    """
    for text in overrides:
        where = f"--set {text}"
        field, equals, value = text.partition("=")
        keys = [str(key) for key in path_of(field.strip())]
        if not equals or not all(keys):
            raise StudyError(
                "not an override",
                where=where,
                why="an override names a field and its value",
                remedy="write it like --set load.threads=16",
            )
        if keys[0] in OPTIONS:
            raise StudyError(
                f"{keys[0]}: not for an override",
                where=where,
                why="it was applied before overrides are",
                remedy=OPTIONS[keys[0]],
            )
        set_field(document, keys, parse_document(value, where, numbered=False).data, where)


def set_field(document: Document, keys: list[str], value: Any, where: str) -> None:
    """Sets the field at these keys (an index for a list's item), and records `where` as its place.

    Raises:
        StudyError: an index outside a list, or a field of a value without fields.
    """
    place: Any = document.data
    path: tuple[str | int, ...] = ()
    for text in keys[:-1]:
        key = _key(place, path, text, where)
        path = (*path, key)
        if isinstance(place, dict) and not isinstance(place.get(key), (dict, list)):
            place[key] = {}
            document.at[path] = where
        place = place[key]
    key = _key(place, path, keys[-1], where)
    path = (*path, key)
    place[key] = value
    _forget(document, path)
    document.at[path] = where
    write_in_full(document)


def _key(place: Any, path: tuple[str | int, ...], text: str, where: str) -> Any:
    """The text as a key of the mapping or an index of the list at the path."""
    if isinstance(place, list):
        return _index(place, path, text, where)
    if isinstance(place, dict):
        return text
    raise StudyError(
        f"{'.'.join(map(str, path))}: has no fields of its own",
        where=where,
        why=f"it is {place!r}",
        remedy="override the whole item",
    )


def _index(items: list[Any], path: tuple[str | int, ...], text: str, where: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < len(items):
        return int(text)
    name = ".".join(map(str, path))
    raise StudyError(
        f"{name}: no item {text!r}",
        where=where,
        why=f"{name} is a list of {len(items)}, counted from 0",
        remedy=f"give the whole list: --set '{name}=[...]'",
    )


def _forget(document: Document, path: tuple[str | int, ...]) -> None:
    """Forgets the places below the field, whose former content is gone."""
    for below in [one for one in document.at if one[: len(path)] == path]:
        del document.at[below]
