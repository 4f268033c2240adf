"""Conditions and comparisons that could not be run, in sentences and in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import first_of
from tare.report import numbers
from tare.report.escaping import plain
from tare.report.table import Cell, Table
from tare.study.left_out import in_words

if TYPE_CHECKING:
    from tare.analysis.model import Analysis

MOST_NAMES = 6
TITLE = "What could not be run"


def sentences(analysis: Analysis) -> list[str]:
    """How many conditions were left out and why, and which answers are missing; empty: none."""
    if not analysis.left_out:
        return []
    planned = len(analysis.conditions) + len(analysis.left_out)
    found = [
        f"{len(analysis.left_out):,} of {numbers.count(planned, 'planned condition')} could not be "
        "run; the result says nothing of them."
    ]
    groups: dict[str, dict[str, dict[str, str]]] = {}
    for one in analysis.left_out:
        groups.setdefault(one.why, {})[one.condition] = one.levels
    every = {one.condition: one.levels for one in analysis.conditions}
    every |= {one.condition: one.levels for one in analysis.left_out}
    for why, gone in groups.items():
        rest = [levels for name, levels in every.items() if name not in gone]
        found.append(f"{plain(in_words(gone, rest, MOST_NAMES))}: {plain(why)}.")
    lost = [one for one in analysis.not_compared if not one.partly]
    partly = len(analysis.not_compared) - len(lost)
    if lost:
        names = [f"{one.treatment} against {one.baseline}" for one in lost]
        found.append(f"Not compared: {plain(first_of(names, MOST_NAMES))}.")
    if partly:
        verb = "is" if partly == 1 else "are"
        found.append(
            f"{numbers.count(partly, 'average')} {verb} over fewer conditions than the study asks "
            "for."
        )
    return found


def tables(analysis: Analysis) -> list[Table]:
    """The tables that have rows."""
    both = left_out_table(analysis), not_compared_table(analysis)
    return [table for table in both if table.rows]


def left_out_table(analysis: Analysis) -> Table:
    """Every condition that was left out, with the reason."""
    rows = [
        [Cell(one.condition), Cell(_levels(one.levels)), Cell(one.why), Cell(one.remedy)]
        for one in analysis.left_out
    ]
    columns = ["Condition", "Levels", "Why", "Remedy"]
    return Table("Conditions left out", columns, rows, [], "left-out-table")


def not_compared_table(analysis: Analysis) -> Table:
    """Every comparison that lacks one of these conditions."""
    rows = [
        [
            Cell(one.treatment),
            Cell(one.baseline),
            Cell(plain(first_of(one.left_out, MOST_NAMES))),
            Cell("an average over the others" if one.partly else "nothing"),
        ]
        for one in analysis.not_compared
    ]
    columns = ["Treatment", "Baseline", "It lacks", "What there is"]
    return Table("Comparisons that lack them", columns, rows, [], "not-compared-table")


def _levels(levels: dict[str, str]) -> str:
    return ", ".join(f"{factor}: {level}" for factor, level in levels.items())
