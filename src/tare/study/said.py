"""What a study's file itself says of a condition: nobody states a default.

For files of other tools nothing else is known beside what they print.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.study.conditions import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.study.schema import Study

Paths = frozenset[tuple[str, ...]]
KIND = ("database", "kind")


def said_paths(study: Study, levels: Mapping[str, str]) -> Paths:
    """The fields that the file sets for a condition of these levels, and the parts they are in."""
    return frozenset(tuple(map(str, one)) for one in resolve(study, levels)[1].at)


def says(paths: Paths, path: tuple[str, ...]) -> bool:
    """Whether the file sets this field, or the one that it is a part of."""
    return any(path[:length] in paths for length in range(2, len(path) + 1))


def said_only(document: Mapping[str, Any], paths: Paths) -> dict[str, Any]:
    """The parts of a condition's document that the file sets."""
    return _kept(document, paths, ())


def _kept(part: Mapping[str, Any], paths: Paths, at: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in part.items():
        own = (*at, name)
        if own not in paths:
            continue
        # a part without fields set by name is set as a whole: QUORUM for both
        inner = any(len(one) > len(own) and one[: len(own)] == own for one in paths)
        found[name] = _kept(value, paths, own) if isinstance(value, dict) and inner else value
    return found
