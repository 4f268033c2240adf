"""`--only`: the conditions with certain levels, out of all that a study has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.errors import StudyError
from tare.study.conditions import baseline_condition, combinations, condition_name, resolve
from tare.study.intensity import share_of_max
from tare.study.overrides import set_field
from tare.study.problems import Problem, refuse
from tare.study.rules import known_levels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tare.study.document import Document
    from tare.study.schema import Study


def select(document: Document, only: Sequence[str]) -> None:
    """Writes each "FACTOR=LEVEL,LEVEL" into the document; levels of one factor add up.

    Raises:
        StudyError: a text of another form.
    """
    chosen: dict[str, list[str]] = {}
    for text in only:
        factor, equals, levels = text.partition("=")
        names = [level.strip() for level in levels.split(",")]
        where = f"--only {text}"
        if not equals or not factor.strip() or not all(names):
            raise StudyError(
                "not a selection",
                where=where,
                why="it names a factor and the levels that are to be measured",
                remedy="write it like --only threads=10,50",
            )
        own = chosen.setdefault(factor.strip(), [])
        own += [name for name in names if name not in own]
        set_field(document, ["only", factor.strip()], own, where)


def selection_problems(study: Study) -> Iterator[Problem]:
    """Unknown factors and levels, nothing left, and a comparison without its baseline."""
    wrong = [
        problem
        for factor, levels in study.only.items()
        for problem in known_levels(study, ("only", factor), factor, levels)
    ]
    yield from wrong
    if wrong or not study.only:
        return
    left = list(combinations(study))
    if not left:
        yield Problem(
            study.origin(("only",)),
            "only: no condition is left",
            "no combination of these levels is in the study; it may exclude them",
            "name other levels; `tare plan` without --only lists all conditions",
        )
        return
    yield from _without_baseline(study, left)


def _without_baseline(study: Study, left: Sequence[Mapping[str, str]]) -> Iterator[Problem]:
    """Comparisons whose baseline is not selected.

    A factor with one level left is no longer compared and needs no baseline, unless
    analysis.compare names it, or nothing else is left to compare.
    """
    kept = {factor: {levels[factor] for levels in left} for factor in study.factors}
    compared = _compared(study)
    based = [f for f in compared if study.baseline[f] in kept[f]]
    contrasted = [factor for factor in based if len(kept[factor]) > 1]
    missing = False
    for factor in compared:
        base = study.baseline[factor]
        needed = factor in study.analysis.compare or len(kept[factor]) > 1 or not contrasted
        if factor not in based and needed:
            missing = True
            yield Problem(
                study.origin(("only", factor)),
                f"only: {factor} without its baseline {base}",
                f"{factor} is compared, and there would be nothing to compare it with",
                _based_again(study, factor, kept[factor]),
            )
    needed_levels = {factor: study.baseline[factor] for factor in based}
    if not missing and not any(needed_levels.items() <= levels.items() for levels in left):
        yield Problem(
            study.origin(("only",)),
            "only: no condition is left that others can be compared with",
            f"none has {', '.join(f'{f} {level}' for f, level in needed_levels.items())}",
            "select more levels; `tare plan` without --only lists all conditions",
        )


def _based_again(study: Study, factor: str, kept: Collection[str]) -> str:
    """The edit that gives the factor a baseline: its own, unless the exclusions remove that."""
    base = study.baseline[factor]
    names = [level for level in study.factors[factor] if level in {base, *kept}]
    wider = study.model_copy(update={"only": study.only | {factor: names}})
    if factor in study.only and any(one[factor] == base for one in combinations(wider)):
        return f"write --only {factor}={','.join(names)}"
    other = next(level for level in names if level in kept)
    return f"{base} is excluded here: write --set baseline.{factor}={other}, or select more levels"


def with_baseline(study: Study) -> Study:
    """The study with a baseline among its selected conditions.

    Of factors that are not compared, the baseline's level may have been left out. Then the first
    remaining condition with the most of the baseline's levels takes its place.

    Raises:
        StudyError: the load is a share of the baseline's maximum, and the condition in its place
            has another maximum.
    """
    if not study.only:
        return study
    left = list(combinations(study))
    if baseline_condition(study) in {condition_name(levels) for levels in left}:
        return study
    compared = _compared(study)

    def near(levels: dict[str, str]) -> tuple[int, int]:
        same = [factor for factor, level in study.baseline.items() if levels[factor] == level]
        return len(set(same) & set(compared)), len(same)

    found = max(left, key=near)
    if any(_seeks_baseline(resolve(study, levels)[0]) for levels in left):
        refuse(_other_maximum(study, found))
    return study.model_copy(update={"baseline": found})


def _seeks_baseline(setup: Mapping[str, Any]) -> bool:
    """Whether the load is a share of the maximum of the study's baseline."""
    load = setup["load"]
    shares = [share_of_max(load[name]) for name in ("threads", "rate")]
    return load["search"]["of"] == "baseline" and any(share is not None for share in shares)


def _other_maximum(study: Study, found: Mapping[str, str]) -> Iterator[Problem]:
    """Factors that would make the searched maximum another one than the study's."""
    base = {factor: study.baseline[factor] for factor in study.factors}
    sought = _searched(study, base)
    for factor, level in found.items():
        if level == base[factor] or _searched(study, base | {factor: level}) == sought:
            continue
        chosen = [one for one in study.factors[factor] if one in study.only.get(factor, [level])]
        yield Problem(
            study.origin(("only", factor)),
            f"only: without {factor} {base[factor]}, loads would be shares of another maximum",
            f"in the study they are shares of the maximum of {condition_name(base)}; here that of "
            f"{condition_name(found)} would be searched",
            f"write --only {factor}={','.join([base[factor], *chosen])}, or take a number as load: "
            "a scale that has one, such as --scale printed, or --set",
        )


def _searched(study: Study, levels: Mapping[str, str]) -> dict[str, Any]:
    """The basis of a condition's maximum: its setup without the intensity."""
    setup = resolve(study, levels)[0]
    load = {
        name: value
        for name, value in setup["load"].items()
        if name not in ("threads", "rate", "search")
    }
    return setup | {"load": load}


def _compared(study: Study) -> list[str]:
    """The factors whose levels are compared with the baseline's."""
    together = study.analysis.compared(study.baseline)
    return [factor for factors in together for factor in factors]
