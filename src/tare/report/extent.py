"""How much of a large study one page shows, so that it stays quick and below 3 MB.

What is left out is said where it is left out, and stands in the files beside the page.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tare.report import numbers, words

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Effect, Metric
    from tare.report.table import Table

FOREST_ROWS = 240
TRIAL_CELLS = 5_000
EFFECT_ROWS = 500
STATISTICS_ROWS = 300
SERIES_ROWS = 120
# What a reader looks for after the primary metrics.
_USUAL = (
    "throughput",
    "all.mean",
    "all.p99",
    "cpu.server_per_op",
    "cpu.machine_per_op",
    "all.p999",
)


def ranked_metrics(analysis: Analysis) -> list[Metric]:
    """Primary metrics, then those that readers usually look for, then the others."""
    first = [m.name for m in words.primary_metrics(analysis)]
    first += [name for name in _USUAL if name not in first]
    rank = {name: i for i, name in enumerate(first)}
    return sorted(analysis.metrics, key=lambda m: rank.get(m.name, len(rank)))


def drawn_metrics(analysis: Analysis) -> list[Metric]:
    """The metrics whose effects are drawn: as many as have FOREST_ROWS effects, at least one."""
    rows: dict[str, int] = {}
    for effect in analysis.effects:
        rows[effect.metric] = rows.get(effect.metric, 0) + 1
    kept: list[Metric] = []
    total = 0
    for metric in ranked_metrics(analysis):
        total += rows.get(metric.name, 0)
        if kept and total > FOREST_ROWS:
            break
        kept.append(metric)
    return kept


def effects_note(analysis: Analysis) -> str:
    """Which effects are not drawn; empty: all are."""
    kept = {m.name for m in drawn_metrics(analysis)}
    left = {e.metric for e in analysis.effects} - kept
    if not left:
        return ""
    return f"Not drawn, but in the table of effects: {numbers.count(len(left), 'further metric')}."


def for_trials(analysis: Analysis) -> tuple[Analysis, str]:
    """The analysis with as many metrics as fit the table of trials, and what is left out."""
    room = max(6, TRIAL_CELLS // max(1, len(analysis.trials)))
    if len(analysis.metrics) <= room:
        return analysis, ""
    kept = {m.name for m in ranked_metrics(analysis)[:room]}
    shown = [m for m in analysis.metrics if m.name in kept]
    left = numbers.count(len(analysis.metrics) - len(shown), "further metric")
    return (
        analysis.model_copy(update={"metrics": shown}),
        f"Not shown: {left} of each trial; trials.csv beside this page has them all.",
    )


def cut_effects(analysis: Analysis, table: Table, at_most: int) -> Table:
    """The table of effects with the rows of the first metrics in rank, and what is left out."""
    if len(table.rows) <= at_most:
        return table
    rank = {m.name: i for i, m in enumerate(ranked_metrics(analysis))}

    def place(i: int) -> int:
        return _rank(analysis.effects[i], rank)

    kept = sorted(sorted(range(len(table.rows)), key=place)[:at_most])
    note = (
        f"Shown are {at_most:,} of {len(table.rows):,} effects, those on primary metrics first; "
        "effects.csv beside this page has them all."
    )
    return replace(
        table,
        rows=[table.rows[i] for i in kept],
        keys=[table.keys[i] for i in kept],
        notes=[*table.notes, note],
    )


def cut_rows(table: Table, at_most: int) -> Table:
    """The first rows of a table that is in order of importance, and what is left out."""
    if len(table.rows) <= at_most:
        return table
    note = f"Shown are the first {at_most:,} of {len(table.rows):,}; analysis.json has them all."
    return replace(
        table,
        rows=table.rows[:at_most],
        keys=table.keys[:at_most],
        notes=[*table.notes, note],
    )


def _rank(effect: Effect, rank: dict[str, int]) -> int:
    return rank.get(effect.metric, len(rank))
