"""Rules for scales: a scale may not change the comparisons or have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.nearest import nearest
from tare.study.patch import assignments, mapping
from tare.study.problems import Problem, dotted, remedy_for
from tare.study.scale_levels import LEVEL_DEPTH, NEVER, level_problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tare.study.document import Document
    from tare.study.origins import FieldPath
    from tare.study.patch import Assignment

FIELDS: frozenset[FieldPath] = frozenset(
    {
        ("load", "records"),
        ("load", "warmup"),
        ("load", "measure"),
        ("load", "threads"),
        ("load", "rate"),
        ("load", "phases"),
        ("load", "search", "budget"),
        ("load", "search", "step"),
        ("design", "deployments"),
        ("design", "until"),
        ("design", "at_most"),
        ("design", "blocks"),
        ("design", "fresh"),
        ("design", "idle"),
        ("design", "idle_cpus"),
        ("design", "pace"),
        ("design", "reset"),
        ("design", "drop_caches"),
        ("design", "data"),
        ("design", "slice"),
        ("design", "drain"),
        ("design", "turn"),
        ("database", "heap"),
        ("database", "jvm"),
    }
)
"""Fields of the document that a scale may set."""
PARTS: frozenset[FieldPath] = frozenset(
    {
        ("design", "warm"),
        ("database", "settings"),
        ("platform", "limits"),
        ("client", "limits"),
        ("margins",),
    }
)
"""Parts of the document in which a scale may set any field."""
GROUPS: Mapping[str, tuple[FieldPath, ...]] = {
    "intensity": (("load", "threads"), ("load", "rate")),
    "records": (("load", "records"),),
    "heap": (("database", "heap"),),
    "limits of the nodes": (("platform", "limits"),),
    "limits of the clients": (("client", "limits"),),
}
"""What a scale may set inside a level that itself sets some of the same group."""


def scale_problems(document: Document, scales: Mapping[str, Any]) -> Iterator[Problem]:
    """Mistakes in each scale; the schema refuses shapes that are no mappings."""
    for name, patch in scales.items():
        if isinstance(patch, dict):
            yield from _Scale(document, name, patch).problems()


class _Scale:
    """One scale of a document."""

    def __init__(self, document: Document, name: str, patch: dict[str, Any]) -> None:
        self.document = document
        self.name = name
        self.changes = list(assignments(patch))

    def problems(self) -> Iterator[Problem]:
        wrong = list(self._each())
        yield from wrong
        if not wrong:
            for one, what, why, remedy in level_problems(self.document.data, self.changes):
                yield self._problem(one, what, why, remedy)

    def _each(self) -> Iterator[Problem]:
        seen: dict[FieldPath, Assignment] = {}
        for one in self.changes:
            if one.path in seen:
                yield self._problem(
                    one, "set twice", f"first at {self._where(seen[one.path])}", "remove one"
                )
            seen.setdefault(one.path, one)
            if one.path[0] == "factors":
                yield from self._in_level(one)
            elif one.sets:
                yield from self._in_base(one)

    def _in_base(self, one: Assignment) -> Iterator[Problem]:
        if not _within(one.path, FIELDS, PARTS):
            near = nearest(dotted(one.path), (dotted(path) for path in FIELDS), 0.8)
            yield self._problem(
                one,
                "not for a scale to set",
                f"{NEVER}: {_listed(FIELDS, PARTS)}, and in levels (factors.FACTOR.LEVEL) "
                "their own intensity, records, heap and limits",
                f"did you mean {near}?" if near else "set it once, at the top of the study",
            )
        elif (factor := self._overruled(one.path)) is not None:
            yield self._problem(
                one,
                "has no effect",
                f"every level of factor {factor} sets it",
                f"set it there: factors.{factor}.LEVEL: {{{dotted(one.path)}: ...}}",
            )
        elif one.path == ("load", "phases"):
            yield from self._phases(one)

    def _in_level(self, one: Assignment) -> Iterator[Problem]:
        factors = mapping(self.document.data.get("factors"))
        factor, level = (str(key) for key in (*one.path[1:LEVEL_DEPTH], "", "")[:2])
        levels = mapping(factors.get(factor))
        path = one.path[LEVEL_DEPTH:]
        if not one.sets and not factor:
            return
        if factor not in factors:
            yield self._problem(
                one,
                f"unknown factor {factor!r}" if factor else "names no level",
                f"factors: {', '.join(factors) or 'none'}; {NEVER}",
                remedy_for(factor, factors),
            )
        elif level not in levels and (level or one.sets):
            yield self._problem(
                one,
                f"unknown level {level!r}" if level else "names no level",
                f"levels of {factor}: {', '.join(levels)}; {NEVER}",
                remedy_for(level, levels),
            )
        elif path and one.sets:
            yield from self._level_field(one, path, mapping(levels[level]), factor, level)
        elif one.sets:
            yield self._problem(one, "is no patch", "a scale sets fields of a level", "name them")

    def _level_field(
        self, one: Assignment, path: FieldPath, patch: dict[str, Any], factor: str, level: str
    ) -> Iterator[Problem]:
        group = next((g for g, known in GROUPS.items() if _within(path, (), known)), None)
        if group is None:
            yield self._problem(
                one,
                "not for a scale to set",
                f"{NEVER}; of a level, {_listed((), sorted(set().union(*GROUPS.values())))}",
                f"set it in the level itself: factors.{factor}.{level}",
            )
        elif not any(_within(own.path, (), GROUPS[group]) for own in assignments(patch)):
            yield self._problem(
                one,
                f"level {level} says nothing of the {group}",
                f"it would differ from the other levels of {factor} in what {factor} is not about",
                f"set {dotted(path)} for the whole study, or in a level that sets it",
            )

    def _overruled(self, path: FieldPath) -> str | None:
        """The factor that sets the field in each of its levels."""
        for factor, levels in mapping(self.document.data.get("factors")).items():
            patches = [mapping(patch) for patch in mapping(levels).values()]
            if patches and all(path in {o.path for o in assignments(p)} for p in patches):
                return str(factor)
        return None

    def _phases(self, one: Assignment) -> Iterator[Problem]:
        """Only lengths may change: rates and mixes are what the phases are about."""
        own = mapping(self.document.data.get("load")).get("phases")
        if _but_length(one.value) != _but_length(own) or not own:
            yield self._problem(
                one,
                "not the study's own phases",
                "of phases a scale changes only how long they last (for)",
                "write the same phases, in the same order, with other lengths",
            )

    def _problem(self, one: Assignment, what: str, why: str, remedy: str) -> Problem:
        field = f"scales.{self.name}.{dotted(one.path)}"
        return Problem(self._where(one), f"{field}: {what}", why, remedy)

    def _where(self, one: Assignment) -> str:
        path: FieldPath = ("scales", self.name, *one.written)
        return self.document.at.get(path, self.document.at[()])


def _within(path: FieldPath, fields: Any, parts: Any) -> bool:
    return path in fields or any(path[: len(part)] == part for part in parts)


def _listed(fields: Any, parts: Any) -> str:
    whole = ".*" if fields else ""
    return ", ".join(sorted([*map(dotted, fields), *(dotted(part) + whole for part in parts)]))


def _but_length(phases: Any) -> Any:
    """The phases without their lengths."""
    if not isinstance(phases, list):
        return phases
    return [
        {key: value for key, value in one.items() if key != "for"} if isinstance(one, dict) else one
        for one in phases
    ]
