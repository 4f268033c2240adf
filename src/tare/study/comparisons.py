"""The comparisons of a study: each condition with its baseline, before averages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tare.study.conditions import Condition
    from tare.study.question import AnalysisSection
    from tare.study.schema import Study


class Comparison(NamedTuple):
    """A condition and its baseline.

    Attributes:
        baseline: None where the study's exclusions leave the condition without one.
        factors: the factors in which the two differ, and in nothing else.
    """

    baseline: Condition | None
    treatment: Condition
    factors: tuple[str, ...]


def comparisons(
    study: Study, planned: Iterable[Condition]
) -> Iterator[tuple[Condition, Condition]]:
    """Every (baseline, treatment) of the study."""
    for one in every_comparison(planned, study.baseline, study.analysis):
        if one.baseline is not None:
            yield one.baseline, one.treatment


def every_comparison(
    planned: Iterable[Condition], baseline: Mapping[str, str], asked: AnalysisSection
) -> Iterator[Comparison]:
    """Each condition with its baseline, once for each question of the study, in their order.

    Where the study gives factors no roles, each factor is a question, and all else is equal. A
    condition that differs from the baseline in several factors is compared once per factor, so that
    the cost of Docker with 64 threads is measured against the native process with 64 threads. If
    the exclusions leave a condition without such a neighbour, it is compared with the condition
    that has all levels of the baseline.

    Args:
        baseline: factor to the level that the study names as baseline. Levels of other factors are
            never compared with each other.
        asked: the study's analysis section.
    """
    by_levels = {frozenset(one.levels.items()): one for one in planned}
    questions = [tuple(factors) for factors in asked.compared(baseline)]
    for one in by_levels.values():
        found = [
            Comparison(by_levels.get(_at(one, baseline, factors)), one, factors)
            for factors in questions
            if any(one.levels.get(factor) != baseline[factor] for factor in factors)
        ]
        if found and not asked.has_roles:
            found = [pair for pair in found if pair.baseline is not None] or [
                Comparison(by_levels.get(_at(one, baseline, baseline)), one, tuple(baseline))
            ]
        yield from found


def _at(
    one: Condition, baseline: Mapping[str, str], factors: Iterable[str]
) -> frozenset[tuple[str, str]]:
    """The condition's levels, with the baseline's levels for these factors."""
    return frozenset((one.levels | {factor: baseline[factor] for factor in factors}).items())
