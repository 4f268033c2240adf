"""Limits to what a scale makes of a factor's levels: they differ at every scale as in the study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.study.intensity import share_of_max
from tare.study.patch import assignments, mapping
from tare.study.problems import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tare.study.origins import FieldPath
    from tare.study.patch import Assignment

NEVER = "a scale never changes the design's conditions, only sizes, durations and repetitions"
LEVEL_DEPTH = 3
"""factors, FACTOR, LEVEL: the keys before a level's own fields"""

Found = tuple["Assignment", str, str, str]
"""The scale's wrong assignment, what is wrong with it, why, and the edit to make."""
Fields = dict["FieldPath", Any]


def level_problems(document: Mapping[str, Any], changes: Sequence[Assignment]) -> Iterator[Found]:
    """What is wrong with the levels at the scale, factor by factor.

    Args:
        document: the study's plain data, before the scale.
        changes: everything that the scale sets; each change alone is already allowed.
    """
    for factor, levels in mapping(document.get("factors")).items():
        yield from _Levels(document, str(factor), mapping(levels), changes).problems()


class _Levels:
    """One factor's levels, in the study and at the scale."""

    def __init__(
        self,
        document: Mapping[str, Any],
        factor: str,
        levels: Mapping[str, Any],
        changes: Sequence[Assignment],
    ) -> None:
        self._document = document
        self._factor = factor
        self._own = {str(level): _fields(patch) for level, patch in levels.items()}
        self._set: dict[str, dict[FieldPath, Assignment]] = {level: {} for level in self._own}
        self._base = {one.path: one for one in changes if one.sets and one.path[0] != "factors"}
        for one in changes:
            if one.sets and one.path[:2] == ("factors", factor):
                self._set[str(one.path[2])][one.path[LEVEL_DEPTH:]] = one
        self._paths = sorted({p for way in (self._own, self._set) for f in way.values() for p in f})

    def problems(self) -> Iterator[Found]:
        if not self._touched(self._paths):
            return
        lonely = list(self._lonely())
        yield from lonely
        if not lonely:
            before, after = self._levels(scaled=False), self._levels(scaled=True)
            yield from self._kinds(before, after)
            yield from self._alike(before, after)

    def _lonely(self) -> Iterator[Found]:
        """Fields that no level sets by itself, and that the scale sets only in some levels."""
        for level, fields in self._set.items():
            for path, one in fields.items():
                others = [name for name in self._own if path not in self._set[name]]
                if path not in self._own[level] and others:
                    yield (
                        one,
                        f"level {level} does not set it",
                        f"the scale leaves it as it is in {', '.join(others)}: levels of "
                        f"{self._factor} would differ in what they do not differ in",
                        "set it in every level of the factor, or for the whole study",
                    )

    def _kinds(self, before: Mapping[str, Fields], after: Mapping[str, Fields]) -> Iterator[Found]:
        """Fields with one kind of value in some levels that would get different kinds."""
        for path in self._paths:
            was = {level: _kind(path, fields[path]) for level, fields in before.items()}
            now = {level: _kind(path, fields[path]) for level, fields in after.items()}
            for first, second in _pairs(was):
                if (was[first] == was[second]) != (now[first] == now[second]):
                    yield (
                        self._touched([path])[-1],
                        f"{dotted(path)} would be {now[first]} in {first} and {now[second]} in "
                        f"{second}",
                        f"in the study it is {was[first]} in {first} and {was[second]} in "
                        f"{second}; {NEVER}",
                        f"set the same kind of value in every level of {self._factor} that has "
                        "the same kind in the study",
                    )
                    break

    def _alike(self, before: Mapping[str, Fields], after: Mapping[str, Fields]) -> Iterator[Found]:
        """Levels that differ in the study and would be the same, or the other way round."""
        for first, second in _pairs(before):
            was, now = before[first] == before[second], after[first] == after[second]
            if was == now:
                continue
            last = self._touched(self._paths)[-1]
            said = f"levels {first} and {second} of {self._factor} would"
            if now:
                yield last, f"{said} be the same", NEVER, "give them different values"
            else:
                why = f"in the study they are the same; {NEVER}"
                yield last, f"{said} differ", why, "give them the same values"
            return

    def _levels(self, *, scaled: bool) -> dict[str, Fields]:
        """Level to the value of every field in question, the base's where the level sets none."""
        return {
            level: {p: self._value(level, p, scaled) for p in self._paths} for level in self._own
        }

    def _value(self, level: str, path: FieldPath, scaled: bool) -> Any:
        if scaled and path in self._set[level]:
            return self._set[level][path].value
        if path in self._own[level]:
            return self._own[level][path]
        if scaled and path in self._base:
            return self._base[path].value
        place: Any = self._document
        for key in path:
            place = mapping(place).get(str(key))
        return place

    def _touched(self, paths: Sequence[FieldPath]) -> list[Assignment]:
        """What the scale sets of these fields: first in the base, then in the levels."""
        inside = [one for fields in self._set.values() for p, one in fields.items() if p in paths]
        return [one for p, one in self._base.items() if p in paths] + inside


def _kind(path: FieldPath, value: Any) -> str:
    """The sort of a value, if another sort makes another comparison and not another size."""
    if path[0] == "load" and share_of_max(value) is not None:
        return "a share of the maximum"
    if path == ("load", "rate") and value is None:
        return "unset (a closed loop)"
    if path[0] == "load":
        return "a number"
    if "limits" in path:
        return "no limit" if value is None else "a limit"
    return "a value"


def _fields(patch: Any) -> Fields:
    return {one.path: one.value for one in assignments(mapping(patch)) if one.sets}


def _pairs(levels: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every two levels, in the order in which they are written."""
    names = list(levels)
    return [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
