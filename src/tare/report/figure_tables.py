"""The numbers of the figures as tables, for readers who cannot see the drawing or want values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.report import numbers, timeline
from tare.report.extent import SERIES_ROWS
from tare.report.labels import condition_labels
from tare.report.latency import distribution_groups
from tare.report.table import Cell, RowKey, Table

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Series

_PERCENTILES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 99.999, 100.0)


def latency_tables(analysis: Analysis) -> list[Table]:
    """Per drawing of the latency figure, the percentiles of every condition."""
    found: list[Table] = []
    labels = condition_labels(analysis)
    for title, group in distribution_groups(analysis).items():
        held = [p for p in _PERCENTILES if any(_near(q, p) for d in group for q, _ in d.quantiles)]
        columns = ["Condition", "Operations"]
        columns += ["maximum" if p == 100 else f"{p:g}%" for p in held]
        rows = []
        for one in group:
            row = [
                Cell(labels.get(one.condition, one.condition), "condition", one.condition),
                Cell(f"{one.count:,}", "number", value=one.count),
            ]
            for percentile in held:
                us = next((v for q, v in one.quantiles if _near(q, percentile)), None)
                row.append(Cell(numbers.quantity(us, "us"), "number", value=us))
            rows.append(row)
        name = f"latency-{len(found) + 1}"
        units = {2 + i: "us" for i in range(len(held))}
        keys = [RowKey(condition=d.condition) for d in group]
        found.append(Table(f"Percentiles, {title}", columns, rows, [], name, units, keys))
    return found


def timeline_table(analysis: Analysis) -> Table:
    """Per trial and strip of the time series, the least and the greatest value.

    Per condition if there are more trials than a page holds.
    """
    held = [s for s in timeline.STRIPS if any(s[0] in one.values for one in analysis.series)]
    titles = [title for _, title, _ in held]
    units = {i + 2: unit for i, (_, _, unit) in enumerate(held)}
    title, note = "Least and greatest of each series", "Sorting goes by the greatest."
    keys = [RowKey(condition=one.condition, trial=one.trial) for one in analysis.series]
    groups = [[one] for one in analysis.series]
    first, columns = [Cell(one.trial) for one in analysis.series], ["Trial", "Condition", *titles]
    if len(analysis.series) > SERIES_ROWS:
        names = list(dict.fromkeys(one.condition for one in analysis.series))
        groups = [[one for one in analysis.series if one.condition == name] for name in names]
        keys = [RowKey(condition=name) for name in names]
        first = [Cell(str(len(g)), "number", value=len(g)) for g in groups]
        columns = ["Trials", "Condition", *titles]
        title = "Least and greatest of the series of each condition"
    labels = condition_labels(analysis)
    rows = [
        [
            start,
            Cell(
                labels.get(group[0].condition, group[0].condition), "condition", group[0].condition
            ),
            *(_range(group, name, unit) for name, _, unit in held),
        ]
        for start, group in zip(first, groups, strict=True)
    ]
    return Table(title, columns, rows, [note], "series-range", units, keys)


def _range(group: list[Series], name: str, unit: str) -> Cell:
    values = [
        v for one in group for v in one.values.get(name, []) if v is not None and math.isfinite(v)
    ]
    if not values:
        return Cell("n/a", "number")
    low, high = min(values), max(values)
    text = f"{numbers.quantity(low, unit)} to {numbers.quantity(high, unit)}"
    return Cell(text, "number", value=high)


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=0, abs_tol=1e-9)
