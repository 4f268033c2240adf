"""Reads and checks a study file: reports every mistake before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from tare.errors import StudyError
from tare.nearest import nearest
from tare.study.analysis_rules import analysis_problems
from tare.study.baseline_form import baseline_form_problems
from tare.study.conditions import baseline_condition, combinations, condition_name, resolve
from tare.study.document import read_document
from tare.study.files_rules import files_problems
from tare.study.origins import FieldPath, Origins
from tare.study.overrides import override
from tare.study.patch import assignments
from tare.study.problems import Problem, dotted, explain, refuse
from tare.study.rules import (
    design_problems,
    factor_problems,
    image_problems,
    setup_problems,
    slice_problems,
)
from tare.study.scale import rescale
from tare.study.schema import Setup, Study
from tare.study.selection import select, selection_problems, with_baseline
from tare.study.short_forms import write_in_full
from tare.study.show_rules import show_problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def load_study(
    path: Path, overrides: Sequence[str] = (), scale: str | None = None, only: Sequence[str] = ()
) -> Study:
    """The study in the file, at a scale, with the overrides and the selection applied.

    Every level's patch and every condition is checked; nothing is started.

    Args:
        overrides: fields set after the scale, "load.threads=16".
        scale: one of the study's scales; None: the scale that the study names, if any.
        only: selected levels, "threads=10,50"; conditions without them are left out.

    Raises:
        StudyError: with file and line (or the option) of the first mistake, the reason, the
            nearest valid name and the edit to make; further mistakes are listed with it.
    """
    document = read_document(path)
    if document.data is None:
        raise StudyError("an empty study", where=f"{path}:1", remedy="begin with `study: my-study`")
    if not isinstance(document.data, dict):
        raise StudyError(
            "not a study",
            where=document.at[()],
            why="a study is a mapping (name: value)",
            remedy="begin with `study: my-study`",
        )
    write_in_full(document)
    scaled = rescale(document, scale)
    override(document, overrides)
    select(document, only)
    study = validate(document.data, Origins(document.at, scaled=scaled))
    if study.scale is not None:  # the document includes the patch now; twice would undo --set
        study = study.model_copy(update={"scales": {}})
    refuse(_levels_problems(study))
    refuse([*factor_problems(study), *design_problems(study)])
    refuse(selection_problems(study))
    study = with_baseline(study)
    refuse(analysis_problems(study))
    refuse(files_problems(study))
    refuse(show_problems(study))
    refuse(_condition_problems(study))
    return study


def validate(data: dict[str, Any], origins: Origins) -> Study:
    """The study in the plain data; fields checked one by one, levels not yet applied.

    Raises:
        StudyError: unknown, missing or ill-typed fields.
    """
    refuse(baseline_form_problems(data, origins))
    try:
        return Study.model_validate(data).with_origins(origins)
    except ValidationError as error:
        refuse(explain(error, Study, origins))
        raise


def _levels_problems(study: Study) -> Iterator[Problem]:
    """Mistakes in each level's patch, taken alone."""
    for factor, levels in study.factors.items():
        for level in levels:
            yield from _patch_problems(study, factor, level)


def _patch_problems(study: Study, factor: str, level: str) -> Iterator[Problem]:
    prefix: FieldPath = ("factors", factor, level)
    seen: dict[FieldPath, FieldPath] = {}
    for one in assignments(study.factors[factor][level]):
        where = study.origin((*prefix, *one.written))
        if one.path[0] in Study.model_fields and one.path[0] not in Setup.model_fields:
            yield Problem(
                where,
                f"{dotted(one.path)}: not for a level to change",
                f"level {level} of factor {factor} may patch {', '.join(Setup.model_fields)}",
                "set it once, at the top of the study",
            )
            return
        if one.path in seen:
            yield Problem(
                where,
                f"{dotted(one.path)}: set twice by level {level} of factor {factor}",
                f"first at {study.origin((*prefix, *seen[one.path]))}",
                "remove one of them",
            )
        seen[one.path] = one.written
    data, origins = resolve(study, {factor: level})
    try:
        Setup.model_validate(data)
    except ValidationError as error:
        yield from explain(error, Setup, origins, f"in level {level} of factor {factor}")


def _condition_problems(study: Study) -> Iterator[Problem]:
    """Settings that cannot work in each condition, and conditions that are missing."""
    names: list[str] = []
    setups: list[Setup] = []
    for levels in combinations(study):
        name = condition_name(levels)
        names.append(name)
        data, origins = resolve(study, levels)
        try:
            setup = Setup.model_validate(data)
        except ValidationError as error:
            yield from explain(error, Setup, origins, f"in condition {name}")
            continue
        setups.append(setup)
        yield from setup_problems(setup, origins, name)
    yield from image_problems(study, setups)
    yield from slice_problems(study, setups)
    baseline = baseline_condition(study)
    if not names:
        yield Problem(
            study.origin(("exclude",)),
            "exclude: no condition is left",
            "every combination of levels is excluded",
            "remove an exclusion",
        )
    elif baseline not in names:
        near = nearest(baseline, names)
        yield Problem(
            study.origin(("exclude",)),
            f"exclude: the baseline {baseline} is excluded",
            "there would be nothing to compare the other conditions with",
            f"take another baseline, e.g. that of {near or names[0]}, or change the exclusion",
        )
