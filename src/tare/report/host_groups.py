"""The composition of compared groups of hosts: the first thing that a reader is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.report.escaping import plain
from tare.report.table import Cell, Table

if TYPE_CHECKING:
    from tare.analysis.model import Analysis

TITLE = "What is compared: groups of hosts, as seen from inside"


def groups_table(analysis: Analysis) -> Table | None:
    """Facts of the machines, those that differ first; None: no groups were compared."""
    facts = analysis.host_groups
    if not facts:
        return None
    groups = list(facts[0].values)
    rows = [
        [
            Cell(one.fact),
            *(Cell(one.values[group], "flag" if one.differs else "text") for group in groups),
        ]
        for one in facts
    ]
    notes = [
        f"{one.summary[0].upper()}{one.summary[1:]}."
        for one in analysis.checks
        if one.name == "host groups" and one.status != "ok"
    ]
    columns = ["Fact", *(plain(group) for group in groups)]
    return Table(TITLE, columns, rows, notes, "host-groups")
