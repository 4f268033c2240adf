"""Mistakes in a study, in words: validation errors to one StudyError with its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError, WithJsonSchema

from tare.enumeration import cut
from tare.errors import StudyError
from tare.nearest import did_you_mean, nearest
from tare.study.metric_names import KINDS, OPERATIONS
from tare.study.quantities import duration_in_words, size_in_words
from tare.study.wrong_value import WrongValueError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tare.study.origins import FieldPath, Origins

MOST_ALSO = 9
"""Further problems that one error lists."""

_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a text; put it in quotes",
    "bool_type": "true or false",
    "dict_type": "a mapping (name: value)",
    "model_type": "a mapping (name: value)",
    "model_attributes_type": "a mapping (name: value)",
    "list_type": "a list",
    "finite_number": "a finite number",
}
_BOUNDS = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
}
_PATTERNS = {
    "study": "up to 64 lower-case letters, digits and hyphens",
    "database.version": 'a release in quotes, such as "5.0.9" or "7.0.14"',
}
_IN_WORDS: Mapping[str, Callable[[Any], str]] = {"bytes": size_in_words, "s": duration_in_words}
"""Unit to the function that puts its numbers into words."""
_NAMED = tuple((field,) for field in ("factors", "baseline", "exclude", "only", "scale", "scales"))
_ALONE = ("service_demand", "throughput")
_NAME_RULE = "a name is up to 48 letters, digits, - and _, and begins with a letter or a digit"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        where: "file:line" or "--set a.b=c".
        what: the field and what is wrong with it, one line.
        why: the reason.
        remedy: the edit to make.
    """

    where: str
    what: str
    why: str = ""
    remedy: str = ""


@dataclass(frozen=True)
class ConditionProblems:
    """Words the problems of one condition's setup, and knows where its fields were written."""

    origins: Origins
    condition: str

    def of(
        self, field: str, what: str, why: str, remedy: str, *, at: str = "", against: str = ""
    ) -> Problem:
        """One problem of a field.

        Args:
            field: dotted, as all other names of fields here.
            at: the field whose place is named; empty: the field itself.
            against: the field that it clashes with, whose place is named if it was written later.
        """
        place = tuple((at or field).split("."))
        where = later(self.origins, place, tuple(against.split("."))) if against else ""
        why = f"{why} (condition {self.condition})"
        return Problem(where or self.origins.of(place), f"{field}: {what}", why, remedy)


def refuse(problems: Iterable[Problem]) -> None:
    """Returns if there is no problem.

    Raises:
        StudyError: for the first problem in the order of lines; the others are listed with it.
    """
    distinct: dict[tuple[str, str], Problem] = {}
    for one in problems:  # a mistake in the base shows in every condition: reported once
        distinct.setdefault((one.where, one.what), one)
    ordered = sorted(distinct.values(), key=lambda one: (line_of(one.where), one.where))
    if not ordered:
        return
    first, others = ordered[0], ordered[1:]
    also = cut([f"also {one.where}: {one.what}" for one in others], MOST_ALSO)
    why = "\n  ".join(part for part in (first.why, *also) if part)
    raise StudyError(first.what, where=first.where, why=why, remedy=first.remedy)


def explain(
    error: ValidationError, model: type[BaseModel], origins: Origins, context: str = ""
) -> Iterator[Problem]:
    """The validation's errors in words.

    Args:
        model: the model that was validated.
        origins: where the validated fields were written.
        context: the kind of document, if it is not the study itself, e.g. a level's patch.
    """
    for one in error.errors(include_url=False):
        path = tuple(part for part in one["loc"] if part != "[key]")
        what, why, remedy = _words(one["type"], path, one, model)
        yield Problem(origins.of(path), what, "; ".join(filter(None, (why, context))), remedy)


def remedy_for(wanted: str, known: Iterable[str]) -> str:
    """The edit to make where a name is not among the known ones."""
    return did_you_mean(wanted, known, "name one of those, or remove it")


def no_metric(field: str, wanted: str, *, kinds: bool) -> tuple[str, str, str]:
    """What, why, remedy where a text is no metric's name.

    Args:
        kinds: a kind of latency alone is a name too, as in margins.
    """
    alone = (*_ALONE, *(KINDS if kinds else ()))
    said = f"a metric is {', '.join(alone)}, or OPERATION.KIND such as read.p99"
    more = f"operations: all, {', '.join(OPERATIONS)}; kinds: {', '.join(KINDS)}"
    if wanted in KINDS:
        remedy = f"did you mean all.{wanted}?"
    else:
        remedy = remedy_for(wanted, (*alone, *metric_names()))
    return f"{field}: no metric is called {_show(wanted)}", f"{said} ({more})", remedy


def metric_names() -> tuple[str, ...]:
    """The names that metrics have."""
    return (*_ALONE, *(f"{one}.{kind}" for one in ("all", *OPERATIONS) for kind in KINDS))


def dotted(path: Sequence[str | int]) -> str:
    """The path as a study's reader writes it."""
    return ".".join(map(str, path)) or "the study"


def field_paths(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field of the model and of the models inside it."""
    for name, info in model.model_fields.items():
        yield (*above, name)
        if (inner := _model(info.annotation)) is not None:
            yield from field_paths(inner, (*above, name))


def _words(kind: str, path: FieldPath, one: Any, model: type[BaseModel]) -> tuple[str, str, str]:
    """What, why, remedy of one pydantic error."""
    name, value, context = dotted(path), one.get("input"), one.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(path, model)
    if kind == "missing":
        if path == ("study",):
            return f"{name}: missing", "a study begins with its name", "add `study: my-study`"
        return f"{name}: missing", f"every study has a {name}", f"add `{path[-1]}: ...`"
    if kind in ("literal_error", "enum"):
        return _not_one_of(name, value, str(context["expected"]))
    if kind in _BOUNDS:
        in_words = _IN_WORDS.get(_unit(model, path), str)
        bound = _BOUNDS[kind].format_map({key: in_words(one) for key, one in context.items()})
        remedy = _percentage(name, value, context) or _set(name, bound)
        return f"{name}: {_show(value)} is out of range", f"it must be {bound}", remedy
    if kind in _EXPECTED:
        wanted = (kind == "string_type" and _PATTERNS.get(name)) or _mapping(model, path)
        return (
            f"{name}: {_show(value)} is not {_EXPECTED[kind].split(';')[0]}",
            "",
            (kind == "int_type" and _in_digits(value)) or _set(name, wanted or _EXPECTED[kind]),
        )
    if kind == "string_pattern_mismatch" and path[:1] in _NAMED:
        return f"{name}: not a name", _NAME_RULE, f"rename {_show(value)}"
    if kind == "string_pattern_mismatch" and path[:1] in (("margins",), ("analysis",)):
        return no_metric(name, str(value), kinds=path[0] == "margins")
    if kind == "string_pattern_mismatch" and name in _PATTERNS:
        return (
            f"{name}: {_show(value)} does not fit",
            f"it is {_PATTERNS[name]}",
            _set(name, _PATTERNS[name]),
        )
    if kind == "value_error":
        error = context["error"]
        if isinstance(error, WrongValueError):
            return f"{name}: {error.reason}", "", error.remedy
        return f"{name}: {error}", "", f"correct {name}"
    return f"{name}: {_show(value)} does not fit", str(one["msg"]), f"correct {name}"


ELSEWHERE = {
    "deployments": ("repetitions", "repeats", "rounds", "runs"),
    "threads": ("clients", "concurrency", "in_flight"),
    "measure": ("duration", "seconds", "time"),
    "limits": ("cpus", "cpuset", "memory"),
    "factors": ("conditions", "compare", "variants", "systems"),
    "margins": ("margin", "tolerance"),
}
"""Field to its names in other tools, or in Tare's own outputs."""


def _unknown(path: FieldPath, model: type[BaseModel]) -> tuple[str, str, str]:
    """An unknown field, with the nearest known one: beside it, or anywhere in the study."""
    wanted = str(path[-1])
    parent = tuple(str(part) for part in path[:-1])
    every = list(field_paths(model))
    beside = [(*parent, field) for field in _inside(model, path[:-1])]
    names_beside = [field[-1] for field in beside]
    near = (
        next((name for name in names_beside if wanted.lower() in ELSEWHERE.get(name, ())), None)
        or nearest(wanted, names_beside)
        or _initials(wanted, names_beside)
    )
    if near is not None:
        meant: Sequence[str] | None = (*parent, near)
        if wanted.lower() in _inside(model, (*path[:-1], near)):
            meant = (*parent, near, wanted.lower())  # platform.memory is platform.limits.memory
    else:
        far = nearest(wanted, (field[-1] for field in every), alike=0.8)
        known = [far] if far else [n for n, names in ELSEWHERE.items() if wanted.lower() in names]
        meant = next((field for field in every if field[-1] in known), None)
    names = ", ".join(field[-1] for field in beside)
    remedy = f"did you mean {dotted(meant)}?" if meant else f"remove {wanted}"
    return f"{dotted(path)}: unknown field", f"{dotted(parent)} has {names}", remedy


def _initials(wanted: str, known: Iterable[str]) -> str | None:
    """The known name whose words begin with these letters: rf is replication_factor."""
    return next((name for name in known if _first_letters(name) == wanted.lower()), None)


def _first_letters(name: str) -> str:
    words = name.split("_")
    return "".join(word[:1] for word in words) if len(words) > 1 else ""


def _not_one_of(name: str, value: object, expected: str) -> tuple[str, str, str]:
    words = (word.strip("'") for word in expected.replace(" or ", ", ").split(", "))
    allowed = [word for word in words if word]
    return (
        f"{name}: {_show(value)} is not known",
        f"it is one of {', '.join(allowed)}",
        did_you_mean(str(value), allowed, f"write one of {', '.join(allowed)}"),
    )


def _percentage(name: str, value: object, bounds: Mapping[str, object]) -> str:
    """The likely meaning of a percentage without its sign; empty: it is none."""
    whole = 1 in (bounds.get("lt"), bounds.get("le"))
    if not whole or not isinstance(value, (int, float)) or not 1 < value < 100:
        return ""
    return f"did you mean {name}: {value:g}%?"


def _in_digits(value: object) -> str:
    """The likely meaning of 20k or 1M; empty: it is neither."""
    text = str(value)
    zeros = {"k": "_000", "m": "_000_000"}.get(text[-1:].lower(), "")
    return f"did you mean {text[:-1]}{zeros}?" if zeros and text[:-1].isdigit() else ""


def _set(name: str, expected: str) -> str:
    return f"give {name} {expected}"


def _mapping(model: type[BaseModel], path: FieldPath) -> str:
    """The content of a field with fields of its own; empty: it has none."""
    names = _inside(model, path) if _known(model, path) else []
    return f"a mapping: {{{', '.join(f'{name}: ...' for name in names)}}}" if names else ""


def _known(model: type[BaseModel], path: FieldPath) -> bool:
    return tuple(map(str, path)) in field_paths(model)


def _show(value: object) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    text = {"None": "null", "True": "true", "False": "false"}.get(text, text)
    return shortened(text)


def _model(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def _inside(model: type[BaseModel], path: FieldPath) -> list[str]:
    """The fields of the part at the path, also of a list's items and of optional parts."""
    found = _inside_model(model, path)
    return list(found.model_fields) if found else []


def _inside_model(model: type[BaseModel], path: FieldPath) -> type[BaseModel] | None:
    annotation: object = model
    for part in path:
        inner = _named_model(annotation)
        if isinstance(part, str) and inner is not None and part in inner.model_fields:
            annotation = inner.model_fields[part].annotation
    return _named_model(annotation)


def _named_model(annotation: object) -> type[BaseModel] | None:
    parts = [annotation, *get_args(annotation)]
    return next((found for part in parts if (found := _model(part))), None)


def _unit(model: type[BaseModel], path: FieldPath) -> str:
    """The unit of the field's type, such as bytes; empty where it names none."""
    above = _inside_model(model, path[:-1])
    info = above.model_fields.get(str(path[-1])) if above is not None and path else None
    if info is None:
        return ""
    said = [*info.metadata, *_parts_of(info.annotation)]
    units = ((one.json_schema or {}).get("unit") for one in said if isinstance(one, WithJsonSchema))
    return next((str(unit) for unit in units if unit), "")


def _parts_of(annotation: object) -> Iterator[object]:
    """The metadata of a type; an optional type has it in its parts."""
    yield from getattr(annotation, "__metadata__", ())
    for part in get_args(annotation):
        yield from _parts_of(part)


def line_of(where: str) -> int:
    """The line in "file:line"; 0 where there is none."""
    number = where.rpartition(":")[2]
    return int(number) if number.isdecimal() and len(number) < 10 else 0


def later(origins: Origins, first: FieldPath, second: FieldPath) -> str:
    """The place that brought a clash of two fields in.

    An override comes after a level's patch, a patch after a scale's, a scale after the base, a
    lower line after a higher.
    """

    def order(path: FieldPath) -> tuple[bool, bool, bool, int]:
        where = origins.of(path)
        override = where.startswith("--set ")
        return override, path in origins.patched, path in origins.scaled, line_of(where)

    return origins.of(max(first, second, key=order))
