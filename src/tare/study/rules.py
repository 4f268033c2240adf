"""Conditions that cannot work on any machine: fields that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.databases import registry as databases
from tare.runtimes.registry import CONTAINER, declared
from tare.study.baseline_form import NAMES_EVERY_FACTOR
from tare.study.design import AUTO, OFF, WINDOWS
from tare.study.image_names import image_name_problems
from tare.study.load_rules import load_problems
from tare.study.platform_rules import platform_problems
from tare.study.problems import ConditionProblems, Problem, later, remedy_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tare.study.origins import FieldPath, Origins
    from tare.study.schema import Setup, Study


def setup_problems(setup: Setup, origins: Origins, condition: str) -> Iterator[Problem]:
    """Contradictions in this condition's setup; places are the later of two fields."""
    problems = ConditionProblems(origins, condition)
    yield from platform_problems(setup, problems)
    yield from image_name_problems(setup, origins)
    yield from databases.declared(setup.database.kind).problems(setup, problems)
    yield from load_problems(setup, problems)


def factor_problems(study: Study) -> Iterator[Problem]:
    """Baseline and exclusions that name what the study lacks, or leave nothing."""
    for factor, levels in study.factors.items():
        if not levels:
            yield Problem(
                study.origin(("factors", factor)),
                f"factors.{factor}: no levels",
                "a factor has at least one level",
                f"add a level below {factor}, or remove the factor",
            )
        elif factor not in study.baseline:
            yield Problem(
                study.origin(("baseline",)),
                f"baseline: no level of factor {factor}",
                NAMES_EVERY_FACTOR,
                f"add {factor}: {next(iter(levels))} to baseline",
            )
    for factor, level in study.baseline.items():
        yield from known_levels(study, ("baseline", factor), factor, [level])
    for index, entry in enumerate(study.exclude):
        if not entry:
            yield Problem(
                study.origin(("exclude", index)),
                f"exclude.{index}: an empty exclusion",
                "it would leave out every condition",
                "remove it, or name a factor and its level",
            )
        for factor, excluded in entry.items():
            yield from known_levels(study, ("exclude", index, factor), factor, excluded)


def known_levels(
    study: Study, path: FieldPath, factor: str, levels: Iterable[str]
) -> Iterator[Problem]:
    """A factor or levels, named by the field at the path, that the study does not have."""
    name = ".".join(map(str, path))
    if factor not in study.factors:
        yield Problem(
            study.origin(path), f"{name}: unknown factor", *_names("factors", factor, study.factors)
        )
        return
    for level in levels:
        if level not in study.factors[factor]:
            yield Problem(
                study.origin(path),
                f"{name}: unknown level {level!r}",
                *_names(f"levels of {factor}", level, study.factors[factor]),
            )


def _names(kind: str, wanted: str, known: Iterable[str]) -> tuple[str, str]:
    names = list(known)
    return f"{kind}: {', '.join(names) or 'none'}", remedy_for(wanted, names)


def image_problems(study: Study, setups: Iterable[Setup]) -> Iterator[Problem]:
    """A named image that no condition would run."""
    if study.database.image is None:
        return
    if all(declared(one.platform.runtime).in_place for one in setups):
        yield Problem(
            study.origin(("database", "image")),
            f"database.image: {study.database.image} would run nowhere",
            "every condition runs its nodes natively, from files",
            f"remove it, or give a condition platform.runtime {CONTAINER}",
        )


def slice_problems(study: Study, setups: Iterable[Setup]) -> Iterator[Problem]:
    """Settings that cannot be measured in slices of a length that the study names."""
    if study.design.slice in (OFF, AUTO):
        return
    where = study.origin(("design", "slice"))
    off = "write design.slice: off, which measures one condition after another in one piece"
    setups = list(setups)
    if study.design.fresh == "trial":
        yield Problem(
            later(study.origins, ("design", "slice"), ("design", "fresh")),
            "design.slice: nothing lives beside one another with design.fresh: trial",
            "in slices the conditions of a block are driven in turn, so that all live at once",
            "write design.fresh: deployment, or design.slice: off",
        )
    lengths = {(one.load.warmup, one.load.measured_s) for one in setups}
    if len(lengths) > 1:
        yield Problem(
            where,
            "design.slice: conditions are measured for different lengths of time",
            "the conditions of a block take turns until each has had load.measure",
            f"give all conditions one load.warmup and load.measure, or {off}",
        )
    for hinders, what, why in _UNSLICED:
        if any(hinders(one) for one in setups):
            yield Problem(where, f"design.slice: {what}", why, off)
    told = dict.fromkeys(one.platform.source.unsliced for one in setups)
    for what, why in filter(None, told):
        yield Problem(where, f"design.slice: {what}", why, off)


_UNSLICED: tuple[tuple[Callable[[Setup], bool], str, str], ...] = (
    (
        lambda one: bool(one.load.phases),
        "a load that changes over time cannot be cut into slices",
        "its phases are seconds of one piece",
    ),
    (
        lambda one: one.client.tool != "tare",
        "only Tare's own load generator drives its cluster in slices",
        "other tools have no schedule of when to send",
    ),
)
"""Test of a setup, name of the setting, and why it cannot be driven in slices."""


def design_problems(study: Study) -> Iterator[Problem]:
    """A warm-up that cannot end as described."""
    warm = study.design.warm
    if warm.at_least > warm.at_most:
        yield Problem(
            later(study.origins, ("design", "warm", "at_least"), ("design", "warm", "at_most")),
            f"design.warm: at_least {warm.at_least:g}s is more than at_most {warm.at_most:g}s",
            "the shortest warm-up is longer than the longest",
            "lower at_least, or raise at_most",
        )
    elif 0 < warm.at_most < WINDOWS * warm.window:
        yield Problem(
            later(study.origins, ("design", "warm", "at_most"), ("design", "warm", "window")),
            f"design.warm: at_most {warm.at_most:g}s holds less than {WINDOWS} windows of "
            f"{warm.window:g}s",
            "flat means that the last two windows agree with the two before them",
            f"raise at_most to {WINDOWS * warm.window:g}s, or shorten window",
        )
