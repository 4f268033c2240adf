"""The conditions that a run's plan left out, and the comparisons that lack them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.model import LeftOut, NotCompared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tare.analysis.inference.contrasts import Contrasts
    from tare.analysis.trials import Trial
    from tare.study.conditions import Condition


def left_out(
    recorded: Mapping[str, tuple[str, str]],
    planned: Iterable[Condition],
    trials: Sequence[Trial],
) -> list[LeftOut]:
    """The study's conditions that the plan left out, in its order.

    A condition that has trials is not listed: the run may have been resumed where it can run.

    Args:
        recorded: name of a condition to the reason and the remedy.
    """
    tried = {trial.condition for trial in trials}
    found = []
    for one in planned:
        if one.name in recorded and one.name not in tried:
            why, remedy = recorded[one.name]
            found.append(LeftOut(condition=one.name, levels=one.levels, why=why, remedy=remedy))
    return found


def not_compared(
    asked: Contrasts, remaining: Contrasts, gone: Collection[str]
) -> list[NotCompared]:
    """The comparisons of the study that lack some of these conditions, or all."""
    there = {(one.baseline, one.treatment) for one in remaining.of}
    found = []
    for one in asked.of:
        lacking = [name for pair in one.cells for name in pair if name in gone]
        if lacking:
            found.append(
                NotCompared(
                    treatment=one.treatment,
                    baseline=one.baseline,
                    left_out=list(dict.fromkeys(lacking)),
                    partly=(one.baseline, one.treatment) in there,
                )
            )
    return found
