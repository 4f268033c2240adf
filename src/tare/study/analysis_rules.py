"""Comparisons that cannot be made: an analysis section that names what the study lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.nearest import nearest
from tare.study.metric_names import KINDS, OF_THE_MACHINE, OPERATIONS, SHAPES
from tare.study.problems import Problem, remedy_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.origins import FieldPath
    from tare.study.schema import Study

_OPERATIONS = {
    "ycsb-a": ("read", "update"),
    "ycsb-b": ("read", "update"),
    "ycsb-c": ("read",),
    "ycsb-d": ("read", "insert"),
    "ycsb-e": ("scan", "insert"),
    "ycsb-f": ("read", "rmw"),
    "stress-mixed": ("read", "write"),
    "stress-read": ("read",),
    "stress-write": ("write",),
    "stress-counter-read": ("counter_read",),
    "stress-counter-write": ("counter_write",),
}
"""Per workload, the operations that tare-load sends."""
_SHOWN = "{kind: spread, metrics: [all.skewness]}"
_COUNTED = "errors"


def analysis_problems(study: Study) -> Iterator[Problem]:
    """Unknown factors and metrics, factors in two roles, and questions without an answer."""
    wrong = [*_factors(study), *_twice(study)]
    yield from wrong
    if not wrong:
        yield from _nothing(study)
    yield from _metrics(study)
    for name in study.margins:
        if "." in name:
            yield from _spelling(study, ("margins", name), "margins", name)


def _roles(study: Study) -> Iterator[tuple[str, FieldPath, str]]:
    """(role, where, factor) of every factor that the section names."""
    asked = study.analysis
    over = asked.over.factors if asked.over else []
    path: FieldPath = ("analysis", "over")
    if (*path, "factors") in study.origins.at:
        path = (*path, "factors")
    for role, at, names in (
        ("compare", ("analysis", "compare"), asked.compare),
        ("by", ("analysis", "by"), asked.by),
        ("over", path, over),
    ):
        for index, name in enumerate(names):
            yield role, (*at, index), name


def _factors(study: Study) -> Iterator[Problem]:
    for role, path, name in _roles(study):
        if name not in study.factors:
            yield Problem(
                study.origin(path),
                f"analysis.{role}: unknown factor {name!r}",
                f"factors: {', '.join(study.factors) or 'none'}",
                remedy_for(name, study.factors),
            )


def _twice(study: Study) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for role, path, name in _roles(study):
        if name in seen:
            yield Problem(
                study.origin(path),
                f"analysis.{role}: factor {name} is in {seen[name]} already",
                "a factor is compared, or kept apart (by), or averaged over",
                f"take {name} out of {role}, or out of {seen[name]}",
            )
        seen.setdefault(name, role)


def _nothing(study: Study) -> Iterator[Problem]:
    """Roles that leave nothing to compare."""
    asked = study.analysis
    for index, name in enumerate(asked.compare):
        if len(study.factors[name]) < 2:
            yield Problem(
                study.origin(("analysis", "compare", index)),
                f"analysis.compare: factor {name} has one level only",
                "a comparison needs the baseline's level and another one",
                f"add a level to {name}, or take it out of compare",
            )
        elif name not in study.baseline:
            yield Problem(
                study.origin(("analysis", "compare", index)),
                f"analysis.compare: the baseline names no level of {name}",
                "each combination is compared with the baseline's combination",
                f"add {name}: {next(iter(study.factors[name]))} to baseline",
            )
    kept = {*asked.by, *(asked.over.factors if asked.over else ())}
    if kept and not asked.compare and kept.issuperset(study.factors):
        yield Problem(
            study.origin(("analysis",)),
            "analysis: no factor is left to compare",
            "every factor of the study is in by or over",
            "name the factor whose levels are compared: analysis.compare",
        )


def _metrics(study: Study) -> Iterator[Problem]:
    asked = study.analysis
    for role, names in (("metrics", asked.metrics), ("primary", asked.primary)):
        for index, name in enumerate(names):
            path: FieldPath = ("analysis", role, index)
            yield from _metric(study, path, f"analysis.{role}", name)
            if name in names[:index]:
                yield Problem(
                    study.origin(path), f"analysis.{role}: {name} twice", "", "remove one of them"
                )
    for name in study.margins:
        yield from _of_the_machine(study, ("margins", name), "margins", name)
    for index, name in enumerate(asked.primary):
        if asked.metrics and name not in asked.metrics:
            yield Problem(
                study.origin(("analysis", "primary", index)),
                f"analysis.primary: {name} is not among analysis.metrics",
                "only the metrics listed there are compared",
                f"add {name} to analysis.metrics",
            )


def _metric(study: Study, path: FieldPath, field: str, name: str) -> Iterator[Problem]:
    if name == _COUNTED:
        yield Problem(
            study.origin(path),
            f"{field}: {name} cannot be compared as a ratio",
            "it is a count, and mostly 0; the checks of the report judge it",
            f"remove {name}",
        )
    elif name.rpartition(".")[2] in SHAPES:
        yield Problem(
            study.origin(path),
            f"{field}: {name} cannot be compared as a ratio",
            "it is a number of a distribution's shape, which exhibits show",
            f"take it out, and name it in metrics of an entry of analysis.show: {_SHOWN}",
        )
    misspelt = list(_spelling(study, path, field, name))
    yield from misspelt
    operation = name.rpartition(".")[0]
    if not misspelt and operation in OPERATIONS and study.files.template is None:
        sent = _sent(study)
        if operation not in sent:
            yield Problem(
                study.origin(path),
                f"{field}: no condition sends {operation} operations",
                f"the workloads of this study send {', '.join(sorted(sent))}",
                f"remove {name}; if it is in files of another tool, name them in files.template",
            )


def _spelling(study: Study, path: FieldPath, field: str, name: str) -> Iterator[Problem]:
    """A latency of an unknown operation or kind; other tools may have others."""
    yield from _of_the_machine(study, path, field, name)
    operation, _, kind = name.rpartition(".")
    known = ("all", *OPERATIONS, *_own(study))
    foreign = study.files.template is None or nearest(operation, known, 0.7)
    if operation in known and kind not in (*KINDS, *SHAPES):
        yield Problem(
            study.origin(path),
            f"{field}: {operation} has no {kind}",
            f"a kind of latency is one of {', '.join(KINDS)}",
            remedy_for(kind, KINDS),
        )
    elif kind in KINDS and operation not in known and foreign:
        yield Problem(
            study.origin(path),
            f"{field}: unknown operation {operation!r}",
            f"operations: {', '.join(known)}",
            remedy_for(operation, known),
        )


def _of_the_machine(study: Study, path: FieldPath, field: str, name: str) -> Iterator[Problem]:
    """A metric of CPUs or disks that no trial has; files of other tools may have others."""
    families = {one.partition(".")[0] for one in OF_THE_MACHINE}
    family = name.partition(".")[0]
    if family in families and name not in OF_THE_MACHINE and study.files.template is None:
        known = [one for one in OF_THE_MACHINE if one.startswith(f"{family}.")]
        yield Problem(
            study.origin(path),
            f"{field}: unknown metric {name!r}",
            f"metrics of the {family}: {', '.join(known)}",
            remedy_for(name, known),
        )


def _own(study: Study) -> list[str]:
    """The operations of the study's own statements, as metrics call them."""
    own = study.load.statements
    return [name.lower() for name in own.operations] if own is not None else []


def _sent(study: Study) -> set[str]:
    """The operations of all workloads that the base or a level names."""
    mixed = {"rmw" if one == "readmodifywrite" else one for one in study.load.mix}
    workloads: set[str] = {study.load.workload}
    for levels in study.factors.values():
        for patch in levels.values():
            load = patch.get("load")
            inner = load.get("workload") if isinstance(load, dict) else None
            workloads.update(
                one for one in (inner, patch.get("load.workload")) if isinstance(one, str)
            )
    sent = {operation for one in workloads for operation in _OPERATIONS.get(one, ())}
    return sent | mixed | set(_own(study))
