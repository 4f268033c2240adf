"""What is compared with what: treatments and their baselines, and conditions run twice (A/A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tare.study.conditions import Condition


@dataclass(frozen=True)
class Contrast:
    """One treatment and the baseline condition it is measured against.

    Attributes:
        factor: the one factor in which they differ; empty where they differ in several.
        aa: both conditions have the same setup, so that every difference is noise.
    """

    baseline: str
    treatment: str
    factor: str
    levels: dict[str, str]
    aa: bool


@dataclass(frozen=True)
class Contrasts:
    """All comparisons of a study.

    Attributes:
        of: in the order of the study's conditions.
        lonely: conditions that the study's exclusions leave without a baseline.
        twins: (condition, its repetition under another name).
    """

    of: list[Contrast]
    lonely: list[str]
    twins: list[tuple[str, str]]

    @property
    def baselines(self) -> list[str]:
        """The conditions that others are compared with."""
        return list(dict.fromkeys(contrast.baseline for contrast in self.of))

    def stratum(self, baseline: str) -> list[str]:
        """The baseline and every condition compared with it."""
        return [baseline, *(c.treatment for c in self.of if c.baseline == baseline)]


def make_contrasts(conditions: Sequence[Condition], baseline: Mapping[str, str]) -> Contrasts:
    """Compare every condition with the baseline level of one factor, all else being equal.

    A condition that differs from the baseline in several factors is compared once per factor, so
    that what Docker costs with 64 threads is measured against the native process with 64 threads.
    Where the exclusions leave no such neighbour, it is compared with the condition that has the
    baseline's level in all factors that the baseline names.

    Args:
        baseline: factor to the level that the study names as baseline. Factors that it does not
            name are never compared across their levels.
    """
    by_levels = {frozenset(c.levels.items()): c for c in conditions}
    found = Contrasts([], [], [])
    for condition in conditions:
        if condition.aa_of is not None:
            found.twins.append((condition.aa_of, condition.name))
        away = [name for name, level in baseline.items() if condition.levels.get(name) != level]
        steps = [(factor, {factor: baseline[factor]}) for factor in away]
        near = list(_neighbours(condition, steps, by_levels))
        if not near and len(away) > 1:
            near = list(_neighbours(condition, [("", dict(baseline))], by_levels))
        found.of.extend(near)
        if away and not near:
            found.lonely.append(condition.name)
    return found


def _neighbours(
    condition: Condition,
    steps: Sequence[tuple[str, dict[str, str]]],
    by_levels: Mapping[frozenset[tuple[str, str]], Condition],
) -> Iterator[Contrast]:
    for factor, levels in steps:
        base = by_levels.get(frozenset((condition.levels | levels).items()))
        if base is not None:
            same = base.setup == condition.setup
            yield Contrast(base.name, condition.name, factor, dict(condition.levels), same)
