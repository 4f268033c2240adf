"""Rows of relative changes, and the steps over which their plain averages are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.exhibits.frame import ConditionGroup
    from tare.analysis.model import Effect, Metric

Key = tuple[int, str, str]
"""(row, metric, combination)"""


@dataclass(frozen=True)
class StepRow:
    """One row of the table, before its metrics: a step of x, or the average over x.

    Attributes:
        averaged: the factor over which the row is averaged; empty for a step.
    """

    panel: ConditionGroup
    step: ConditionGroup
    averaged: str = ""

    @property
    def levels(self) -> dict[str, str]:
        return {**self.panel.levels, **self.step.levels}

    @property
    def cells(self) -> ConditionGroup:
        """Its conditions."""
        return self.step.within(self.panel)


@dataclass(frozen=True)
class Changes:
    """What the effects say: change in percent per (row, metric, combination), and the effect."""

    changes: dict[Key, float]
    effects: dict[Key, Effect]


def common_steps(
    rows: Sequence[StepRow],
    place: int,
    metric: Metric,
    treated: Sequence[ConditionGroup],
    found: Changes,
) -> list[int]:
    """Places of the steps over which the row at `place` averages: the steps of all combinations.

    A combination that was compared at no step does not count.
    """
    own = [k for k in range(place) if rows[k].panel is rows[place].panel]
    held = [{k for k in own if (k, metric.name, one.label) in found.changes} for one in treated]
    some = [steps for steps in held if steps]
    return sorted(set.intersection(*some)) if some else []


def left_out(
    rows: Sequence[StepRow],
    metrics: Sequence[Metric],
    treated: Sequence[ConditionGroup],
    found: Changes,
) -> str:
    """The steps that the plain means of the last rows leave out; empty: none."""
    names: dict[str, None] = {}
    for place, row in enumerate(rows):
        for metric in metrics:
            keys = [(place, metric.name, one.label) for one in treated]
            if not row.averaged or all(key in found.effects for key in keys):
                continue
            common = common_steps(rows, place, metric, treated, found)
            for k in range(place):
                shown = any((k, metric.name, one.label) in found.changes for one in treated)
                if rows[k].panel is row.panel and k not in common and shown:
                    names[f"{row.averaged} {rows[k].step.label}"] = None
    if not names:
        return ""
    return f"Left out of the averages, because not all were compared there: {', '.join(names)}. "
