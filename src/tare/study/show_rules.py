"""Exhibits (analysis.show) that cannot be shown because they name what the study lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.study.problems import Problem, remedy_for
from tare.study.steps import numeric_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tare.study.origins import FieldPath
    from tare.study.question import AskedExhibit
    from tare.study.schema import Study

MEASURED = "throughput"
"""What a ladder may have along its horizontal axis besides a factor."""
LEAST_STEPS = 3
"""A quadratic curve goes through any two points."""

_ALWAYS = {"kind", "title", "metrics", "where"}
_USED: dict[str, set[str]] = {
    "relative-change": {"x", "lines", "panels"},
    "median-run": {"lines", "panels"},
    "ladder": {"x", "lines", "panels"},
    "maximum": {"x", "lines", "panels"},
    "quadratic-fit": {"x", "lines", "panels"},
    "mean-bars": {"x", "lines", "panels"},
    "rankings": {"lines", "panels", "groups", "ties"},
    "band": {"lines", "panels", "window"},
    "interval-means": {"lines", "panels", "intervals"},
    "box": {"lines", "panels"},
    "spread": {"lines", "panels"},
}
_NUMERIC = {"ladder", "quadratic-fit"}
_USUAL_STEPS = ("Offered load", "Client threads")
"""Titles of the steps that are taken first along a numeric axis."""


def show_problems(study: Study) -> Iterator[Problem]:
    """Unknown factors and levels, fields without a meaning for the kind, and missing factors."""
    for index, one in enumerate(study.analysis.show):
        at: FieldPath = ("analysis", "show", index)
        unknown = list(_unknown(study, one, at))
        yield from unknown
        yield from _unused(study, one, at)
        if not unknown:
            yield from _twice(study, one, at)
            yield from _axis(study, one, at)
            yield from _compared(study, one, at)


def _unknown(study: Study, one: AskedExhibit, at: FieldPath) -> Iterator[Problem]:
    measured = one.kind == "ladder" and one.x == MEASURED and MEASURED not in study.factors
    if one.x is not None and not measured:
        yield from _factor(study, (*at, "x"), one.x)
    for role, names in (("lines", one.lines), ("panels", one.panels)):
        for name in names:
            yield from _factor(study, (*at, role), name)
    for name, levels in one.where.items():
        missing = list(_factor(study, (*at, "where", name), name))
        yield from missing or _levels(study, (*at, "where", name), name, levels)
    for group, levels in one.groups.items():
        path = (*at, "groups", group)
        if not one.panels:
            yield _problem(
                study,
                path,
                "groups of which factor's levels?",
                "groups name levels of the first factor of panels",
                "add panels, e.g. panels: [workload]",
            )
        elif one.panels[0] in study.factors:
            yield from _levels(study, path, one.panels[0], levels)


def _factor(study: Study, path: FieldPath, name: str) -> Iterator[Problem]:
    if name not in study.factors:
        yield _problem(
            study,
            path,
            f"unknown factor {name!r}",
            f"factors: {', '.join(study.factors) or 'none'}",
            remedy_for(name, study.factors),
        )


def _levels(study: Study, path: FieldPath, factor: str, levels: Iterable[str]) -> Iterator[Problem]:
    known = study.factors[factor]
    for level in levels:
        if level not in known:
            yield _problem(
                study,
                path,
                f"unknown level {level!r}",
                f"levels of {factor}: {', '.join(known)}",
                remedy_for(level, known),
            )


def _unused(study: Study, one: AskedExhibit, at: FieldPath) -> Iterator[Problem]:
    used = _ALWAYS | _USED[one.kind]
    plain = type(one)(kind=one.kind)
    for name in sorted(one.model_fields_set - used):
        if getattr(one, name) == getattr(plain, name):
            continue  # a run's own copy of its study writes every field out
        yield _problem(
            study,
            (*at, name),
            f"{one.kind} has no {name}",
            f"it has {', '.join(sorted(used - {'kind'}))}",
            f"remove {name}",
        )


def _twice(study: Study, one: AskedExhibit, at: FieldPath) -> Iterator[Problem]:
    """A factor has one role: an axis, a colour or a panel."""
    seen: dict[str, str] = {}
    roles = [("x", [one.x] if one.x else []), ("lines", one.lines), ("panels", one.panels)]
    for role, names in roles:
        for name in names:
            if name in seen:
                yield _problem(
                    study,
                    (*at, role),
                    f"factor {name} is {seen[name]} already",
                    "a factor has one role in a figure",
                    f"take it out of {role}, or out of {seen[name]}",
                )
            seen.setdefault(name, role)


def _axis(study: Study, one: AskedExhibit, at: FieldPath) -> Iterator[Problem]:
    """A curve needs numbers along its axis."""
    if one.kind not in _NUMERIC or one.x == MEASURED:
        return
    name = step_factor(study, one)
    if name is None:
        yield _problem(
            study,
            at,
            f"a {one.kind} needs a factor with numbers",
            "no other factor of the study has levels that are numbers (load.threads, load.rate)",
            "add such a factor, or ask for mean-bars",
        )
    elif one.kind == "quadratic-fit":
        steps = numeric_steps(study, name)
        known = len(steps.values) if steps else 0
        if known < LEAST_STEPS:
            yield _problem(
                study,
                (*at, "x"),
                f"{name} has {known or 'no'} levels that are numbers",
                f"a quadratic curve needs at least {LEAST_STEPS} different ones",
                "take a factor such as threads with more levels, or ask for mean-bars",
            )


def step_factor(study: Study, one: AskedExhibit) -> str | None:
    """The factor along a numeric axis: the one asked for, else rate, threads, then any other."""
    if one.x is not None:
        return one.x
    taken = {*one.lines, *one.panels, *(() if one.lines else compared_factors(study))}
    taken |= {factor for factor, levels in one.where.items() if len(levels) == 1}
    found: list[tuple[int, str]] = []
    for factor in study.factors:
        steps = None if factor in taken else numeric_steps(study, factor)
        if steps is not None:
            usual = steps.title in _USUAL_STEPS
            rank = _USUAL_STEPS.index(steps.title) if usual else len(_USUAL_STEPS)
            found.append((rank, factor))
    return min(found)[1] if found else None


def compared_factors(study: Study) -> list[str]:
    """The factors that the study compares; without `compare`, the first of its baseline."""
    return list(study.analysis.compare) or list(study.factors)[:1]


def _compared(study: Study, one: AskedExhibit, at: FieldPath) -> Iterator[Problem]:
    if one.kind in ("rankings", "spread", "relative-change"):
        factors = one.lines or compared_factors(study)
        sizes = [len(one.where.get(name) or study.factors.get(name, {})) for name in factors]
        if not any(size > 1 for size in sizes):
            yield _problem(
                study,
                at,
                f"{one.kind} of a single level",
                f"of {', '.join(factors) or 'no factor'} one level at most is left to compare",
                "name a factor with several levels in lines",
            )


def _problem(study: Study, path: FieldPath, what: str, why: str, remedy: str) -> Problem:
    return Problem(study.origin(path), f"{'.'.join(map(str, path))}: {what}", why, remedy)
