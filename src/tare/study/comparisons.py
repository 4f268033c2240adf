"""What a study compares: pairs of its conditions, before averages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tare.study.conditions import Condition
    from tare.study.schema import Study


def comparisons(
    study: Study, planned: Iterable[Condition]
) -> Iterator[tuple[Condition, Condition]]:
    """Every (baseline, treatment) of the study: what the analysis compares, before averages.

    The two differ in the factors that are compared together and in nothing else. Where the study
    gives factors no roles these are single factors; a condition that the exclusions leave without
    such a neighbour is compared with the one that has all levels of the baseline.
    """
    by_levels = {frozenset(one.levels.items()): one for one in planned}
    asked = study.analysis
    for one in by_levels.values():
        found = list(_bases(study, one, by_levels))
        yield from found
        if not found and not (asked.compare or asked.by or asked.over):
            base = by_levels.get(frozenset((one.levels | study.baseline).items()))
            if base is not None and base is not one:
                yield base, one


def _bases(
    study: Study, one: Condition, by_levels: Mapping[frozenset[tuple[str, str]], Condition]
) -> Iterator[tuple[Condition, Condition]]:
    for factors in study.analysis.compared(study.baseline):
        levels = one.levels | {factor: study.baseline[factor] for factor in factors}
        base = by_levels.get(frozenset(levels.items()))
        if base is not None and base is not one:
            yield base, one
