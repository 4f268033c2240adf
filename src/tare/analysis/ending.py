"""How a run ended: after which round, whether it was decided, and what would still decide it."""

from __future__ import annotations

import math
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from tare.analysis.inference.significance import believed_at_every_end
from tare.analysis.inference.verdicts import ALPHA
from tare.analysis.model.ending import Ending, Extension
from tare.records.looks import Look
from tare.study.design import MOST_PLANNED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.inference.significance import SignificanceLevels
    from tare.analysis.model import Analysis, Effect
    from tare.analysis.trials import Trial
    from tare.records.looks import Looks
    from tare.study.design import Design

_BY_CHANCE = 1e-6


def looks_taken(looks: Looks, design: Design, trials: Sequence[Trial]) -> list[Look]:
    """The looks at the run; while a run has not ended, this analysis is one of them.

    To read the report of an unfinished run is to look at it, at the share of its planned rounds
    that are done. Empty: a run of all its rounds, without earlier looks.
    """
    if any(trial.manifest.source for trial in trials):
        return []
    rounds = max((trial.manifest.round for trial in trials if trial.done), default=0)
    taken = list(looks.looks)
    if rounds and (design.until == "decided" or taken) and rounds > (taken or [_NONE])[-1].round:
        planned = max(design.deployments, rounds)
        taken.append(Look(round=rounds, of=planned, why="planned", decided=None))
    return taken


_NONE = Look.model_construct(round=0, of=1, why="planned", decided=None)


def describe_ending(taken: Sequence[Look], levels: SignificanceLevels) -> Ending | None:
    """The report's text on the looks; None where there were none."""
    if not taken:
        return None
    believed = believed_at_every_end(taken)
    return Ending(
        rounds=taken[-1].round,
        planned=taken[-1].of,
        why=taken[-1].why,
        decided=taken[-1].decided,
        looks=list(taken),
        level=levels.interval,
        tost_level=levels.tost_interval,
        false_alarms_if_all_believed=believed if believed > ALPHA + _BY_CHANCE else None,
    )


def is_decided(analysis: Analysis) -> bool:
    """Every primary comparison has a verdict other than inconclusive; False without any."""
    asked = [effect for effect in analysis.effects if not effect.aa]
    primary = [effect for effect in asked if effect.primary]
    compared = {_sides(effect) for effect in asked}
    answered = {(effect.metric, *_sides(effect)) for effect in primary}
    complete = len(answered) == len(compared) * len({effect.metric for effect in primary})
    return bool(primary) and complete and all(e.verdict != "inconclusive" for e in primary)


def _sides(effect: Effect) -> tuple[str, str, tuple[str, ...]]:
    return effect.baseline, effect.treatment, tuple(effect.over)


def extension(
    effects: Sequence[Effect],
    design: Design,
    trials: Sequence[Trial],
    environment: dict[str, Any],
    ended: Look | None = None,
) -> Extension | None:
    """The rounds that should decide the open primary comparisons, and their time.

    None where the run has not ended, or the number is unknown.

    Args:
        ended: the look at which the run ended; None: it was to have all rounds.
        environment: what the lab recorded, with the command that began the run.
    """
    starts = round_starts(trials)
    if not starts or any(trial.manifest.source for trial in trials):
        return None
    now = max(starts)
    opened = [e for e in effects if e.primary and not e.aa and e.verdict == "inconclusive"]
    needed = [_rounds_needed(effect, design) for effect in opened]
    more = max(needed, default=0)
    if not more or (ended is None and now < design.deployments):
        return None
    command = environment.get("command")
    return Extension(
        left_open=needed.count(0),
        rounds=now + more,
        now=now,
        seconds=more * round_seconds(starts, trials),
        command=f"{command} --rounds {now + more}" if command and isinstance(command, str) else "",
    )


def _rounds_needed(effect: Effect, design: Design) -> int:
    """Rounds that bring the units still needed; 0 where their number is unknown."""
    if effect.needed is None or effect.needed > MOST_PLANNED:
        return 0
    if effect.unit_of_analysis == "block" and not effect.conditional:
        return math.ceil(effect.needed / design.blocks)
    return effect.needed


def round_starts(trials: Sequence[Trial]) -> dict[int, float]:
    """Round to the Unix time at which its first trial began."""
    starts: dict[int, float] = {}
    for trial in trials:
        if trial.done:
            at, index = _unix(trial.manifest.started), trial.manifest.round
            starts[index] = min(at, starts.get(index, at))
    return starts


def round_seconds(starts: dict[int, float], trials: Sequence[Trial]) -> float:
    """Seconds from the first trial of a round to that of the next, with its deployments: the
    median, because runs are interrupted. For a single round, only its trials."""
    ordered = [starts[index] for index in sorted(starts)]
    if len(ordered) > 1:
        return float(median(after - before for before, after in pairwise(ordered)))
    return max(_unix(trial.manifest.ended) for trial in trials) - ordered[0]


def _unix(iso: str) -> float:
    try:
        return datetime.fromisoformat(iso).timestamp()
    except ValueError:
        return 0.0
