"""What one exhibit is made of: its conditions, their trials, and how factors are laid out."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tare.analysis.catalogue import describe, in_order
from tare.analysis.exhibits.marks import Marks
from tare.analysis.exhibits.means import Mean, independent, mean_over, most_of
from tare.study.show_rules import compared_factors
from tare.study.steps import Steps, numeric_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.model import Chart, Effect, Grid, Metric, Series
    from tare.analysis.trials import Trial
    from tare.study.conditions import Condition
    from tare.study.question import AskedExhibit
    from tare.study.schema import Study

MOST_PANELS = 24
"""With more panels nobody compares the figure by eye."""


@dataclass(frozen=True)
class Content:
    """The content of one exhibit, made from the records."""

    title: str
    caption: str
    charts: list[Chart] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)


@dataclass(frozen=True)
class ConditionGroup:
    """Conditions that share levels, under the name that a reader sees."""

    label: str
    levels: Mapping[str, str]
    conditions: list[Condition]
    place: int = 0
    """among all combinations of levels that the study has, chosen or not"""

    @property
    def names(self) -> list[str]:
        return [condition.name for condition in self.conditions]

    def within(self, other: ConditionGroup) -> ConditionGroup:
        """The conditions of both, under this group's name."""
        names = set(other.names)
        return replace(self, conditions=[c for c in self.conditions if c.name in names])


@dataclass(frozen=True)
class Frame:
    """One exhibit as the study asks for it, and the records it is made from."""

    asked: AskedExhibit
    study: Study
    conditions: list[Condition]
    trials: list[Trial]
    effects: list[Effect]
    series: list[Series]

    @cached_property
    def by_condition(self) -> dict[str, list[Trial]]:
        """Condition to its completed trials, for the conditions that the exhibit is about."""
        where = self.asked.where
        wanted = {
            one.name
            for one in self.conditions
            if all(one.levels.get(factor) in levels for factor, levels in where.items())
        }
        found: dict[str, list[Trial]] = {}
        for trial in self.trials:
            if trial.done and trial.condition in wanted:
                found.setdefault(trial.condition, []).append(trial)
        return found

    @cached_property
    def chosen(self) -> list[Condition]:
        """The conditions that the exhibit is about, and that have trials."""
        return [one for one in self.conditions if one.name in self.by_condition]

    @property
    def lines(self) -> list[str]:
        """Factors told apart by colour: the study's choice, else the compared factors."""
        return list(self.asked.lines) or compared_factors(self.study)

    def rest(self, *taken: str) -> list[str]:
        """Factors that have several levels among the chosen conditions and no role yet."""
        return [
            factor
            for factor in self.study.factors
            if factor not in taken and len({one.levels[factor] for one in self.chosen}) > 1
        ]

    @cached_property
    def line_groups(self) -> list[ConditionGroup]:
        """Groups of conditions told apart by colour, the baseline first.

        With several factors the first changes fastest: setups I to IV of Grambow 2018.
        """
        return self.groups(self.lines, first_fastest=True)

    def groups(
        self, factors: Sequence[str], *, named: bool = False, first_fastest: bool = False
    ) -> list[ConditionGroup]:
        """The chosen conditions by their levels of these factors, the baseline's first.

        Args:
            named: labels name the factor of each level; else only where there are several.
            first_fastest: the first factor's level changes from group to group; else the last's.
        """
        if not factors:
            return [ConditionGroup("", {}, list(self.chosen))]
        found = []
        ordered = list(reversed(factors)) if first_fastest else list(factors)
        every = itertools.product(*(self._levels(factor) for factor in ordered))
        for place, levels in enumerate(every):
            own_levels = dict(zip(ordered, levels, strict=True))
            pairs = {factor: own_levels[factor] for factor in factors}
            own = [c for c in self.chosen if all(c.levels[f] == v for f, v in pairs.items())]
            if own:
                label = (
                    ", ".join(f"{factor} {level}" for factor, level in pairs.items())
                    if named or len(factors) > 1
                    else pairs[factors[0]]
                )
                found.append(ConditionGroup(label, pairs, own, place))
        return found

    def _levels(self, factor: str) -> list[str]:
        """The factor's levels: steps in numeric order, else the baseline's level first."""
        levels = list(self.study.factors[factor])
        steps = self.steps(factor)
        if steps is not None:
            return sorted(levels, key=lambda level: steps.values[level])
        first = self.study.baseline.get(factor)
        return sorted(levels, key=lambda level: level != first)

    def steps(self, factor: str) -> Steps | None:
        """The factor's levels as numbers, where they are numbers."""
        return numeric_steps(self.study, factor)

    @cached_property
    def known(self) -> list[str]:
        """The metrics that the trials have, in the order of reports."""
        return in_order({m for own in self.by_condition.values() for t in own for m in t.values})

    def per_operation(self, kind: str) -> list[str]:
        """Every operation's metric of this kind (read.mean, ...); the overall metric if none is."""
        own = [m for m in self.known if m.endswith(f".{kind}") and m.count(".") == 1]
        return [m for m in own if not m.startswith("all.")] or [f"all.{kind}"]

    def metrics(self, *usual: str) -> list[Metric]:
        """The metrics asked for; else the usual metrics that the trials have."""
        names = list(self.asked.metrics) or [name for name in usual if name in self.known]
        return [describe(name) for name in names]

    def available(self, *usual: str, least: Sequence[str] = ()) -> tuple[list[Metric], str]:
        """The metrics of `metrics` that the trials have, and a sentence on the others.

        Args:
            least: the metrics that the sentence names if the trials have none.
        """
        metrics = self.metrics(*usual)
        have = [m for m in metrics if m.name in self.known]
        gone = [m.name for m in metrics if m not in have]
        return have, missing("values", gone or ([] if have else least))

    def holding(self, metrics: Iterable[Metric]) -> list[str]:
        """The chosen conditions with a trial that has one of these metrics."""
        names = {metric.name for metric in metrics}
        return [
            condition
            for condition, own in self.by_condition.items()
            if any(names & t.values.keys() for t in own)
        ]

    def values(self, conditions: Iterable[str], metric: str) -> dict[str, dict[str, float]]:
        """Per condition, trial to value; conditions without any are left out."""
        found = {
            name: {t.name: t.values[metric] for t in self.by_condition[name] if metric in t.values}
            for name in conditions
        }
        return {name: own for name, own in found.items() if own}

    @cached_property
    def deployments(self) -> dict[str, str]:
        """Trial to the deployment that served it."""
        return {t.name: t.manifest.deployment for own in self.by_condition.values() for t in own}

    def mean(self, group: ConditionGroup, metric: str) -> Mean | None:
        """The group's mean over its conditions, with the interval over their repetitions."""
        found = self.values(group.names, metric)
        samples = (independent(own, self.deployments) for own in found.values())
        return mean_over(samples, most_of(metric))

    def trials_of(self, group: ConditionGroup, metric: str = "") -> list[str]:
        """Names of the group's completed trials (that have the metric)."""
        return [
            trial.name
            for name in group.names
            for trial in self.by_condition[name]
            if not metric or metric in trial.values
        ]

    def averaged(self, *taken: str) -> str:
        """A sentence on the factors whose levels every value is averaged over; may be empty."""
        rest = self.rest(*taken)
        return f"Averaged over the levels of {', '.join(rest)}, each alike. " if rest else ""

    def pooled(self, *taken: str) -> str:
        """A sentence on the factors whose levels are drawn as one sample; may be empty."""
        rest = self.rest(*taken)
        return f"The levels of {', '.join(rest)} are put together. " if rest else ""


def marks_of(line: ConditionGroup, *, minor: bool = False) -> Marks:
    """The marks of a line, with the colour of its condition where it shows only one."""
    condition = line.names[0] if len(line.conditions) == 1 else ""
    return Marks(line.label, condition, line.place, minor)


def missing(what: str, names: Iterable[str]) -> str:
    """The sentence for what the records do not hold; empty where nothing is missing."""
    listed = ", ".join(names)
    return f"Not in the records: {what} of {listed}. " if listed else ""
