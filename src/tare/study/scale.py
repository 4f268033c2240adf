"""Scales: the same study at another size, as a patch over sizes, durations and repetitions."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from tare.errors import StudyError
from tare.study.overrides import set_field
from tare.study.patch import assignments, mapping
from tare.study.problems import refuse, remedy_for
from tare.study.quantities import parse_name
from tare.study.scale_rules import scale_problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.document import Document
    from tare.study.origins import FieldPath


def rescale(document: Document, asked: str | None) -> frozenset[FieldPath]:
    """Lays the patch of a scale over the document: the scale asked for, else the one it names.

    A run's own copy of its study was written at its scale: there the scale is an empty patch.


    Args:
        document: a mapping; its fields are not yet checked, apart from those of its scales.
        asked: the scale's name; None: as the document says.

    Returns:
        The fields that it set, except those inside levels.

    Raises:
        StudyError: an unknown scale, or one that would change more than the study's size.
    """
    scales = mapping(document.data.get("scales"))
    own = _name(document.data.get("scale"))
    name = own if asked is None else asked
    where = f"--scale {asked}" if asked is not None else document.at.get(("scale",), "")
    if name is not None and name not in scales:
        raise _unknown(name, list(scales), where)
    refuse(scale_problems(document, scales))
    if name is None:
        return frozenset()
    document.data["scale"] = name
    document.at["scale",] = where
    return frozenset(_apply(document, name))


def _apply(document: Document, name: str) -> Iterator[FieldPath]:
    for one in assignments(mapping(document.data["scales"][name])):
        if not one.sets:
            continue
        where = document.at["scales", name, *one.written]
        value = copy.deepcopy(one.value)
        if one.path[0] == "factors":
            factor, level = str(one.path[1]), str(one.path[2])
            _set_in_level(document, factor, level, one.path[3:], value, where)
        else:
            keys = _keys(one.path)
            if _has_room(document.data, keys):
                set_field(document, keys, value, where)
                yield tuple(keys)


def _has_room(data: Any, keys: list[str]) -> bool:
    """Whether the part around the field is a mapping or absent; else the schema refuses it."""
    for key in keys[:-1]:
        if not isinstance(data, dict):
            return False
        if key not in data:
            return True
        data = data[key]
    return isinstance(data, dict)


def _keys(path: FieldPath) -> list[str]:
    """The field of a patch's path; a margin's name may have dots (read.p99)."""
    keys = [str(key) for key in path]
    return ["margins", ".".join(keys[1:])] if keys[0] == "margins" and len(keys) > 1 else keys


def _set_in_level(
    document: Document, factor: str, level: str, path: FieldPath, value: Any, where: str
) -> None:
    """Sets the field in the level's patch: in its place there, else under its dotted path."""
    levels = document.data["factors"][factor]
    patch = levels[level] = mapping(levels[level])
    written: FieldPath = next(
        (one.written for one in assignments(patch) if one.path == path), (".".join(map(str, path)),)
    )
    place = patch
    for key in written[:-1]:
        place = place[str(key)]
    place[str(written[-1])] = value
    document.at["factors", factor, level, *written] = where


def _name(value: Any) -> str | None:
    """The name of a scale; the schema refuses any other value."""
    name = parse_name(value)
    return name if isinstance(name, str) else None


def _unknown(name: str, known: list[str], where: str) -> StudyError:
    if not known:
        return StudyError(
            f"scale {name}: the study has no scales",
            where=where,
            why=f"it would run at its own size, and its records would say {name}",
            remedy="leave the scale out, or add it below `scales:` (docs/scales.md); where the "
            f"study has this size already, that is `scales: {{{name}: {{}}}}`",
        )
    return StudyError(
        f"scale: no scale is called {name!r}",
        where=where,
        why=f"scales: {', '.join(known)}",
        remedy=remedy_for(name, known),
    )
