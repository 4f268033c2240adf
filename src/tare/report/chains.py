"""A way into a server over another server: both links of the chain, and what they are in all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import listing
from tare.report import numbers
from tare.report.escaping import plain
from tare.report.labels import condition_labels
from tare.report.table import Cell, RowKey, Table

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Chain

COLUMNS = ("server", "way", "in all", "95% interval", "values")


def title(analysis: Analysis) -> str:
    """From where to where the chains lead, by way of what."""
    named = condition_labels(analysis)
    from_, through = (
        listing(list(dict.fromkeys(plain(named.get(one, one)) for one in names)))
        for names in (
            [one.baseline for one in analysis.chains],
            [one.through for one in analysis.chains],
        )
    )
    return f"In all over {from_}: the server ({through}), then the way into it"


def chains_table(analysis: Analysis) -> Table | None:
    """A row for each metric and way; None: no way's server is compared with another one."""
    if not analysis.chains:
        return None
    titles = {one.name: one for one in analysis.metrics}
    named = condition_labels(analysis)
    rows, keys = [], []
    for one in analysis.chains:
        metric = titles[one.metric]
        values = " \u2192 ".join(
            numbers.quantity(value, metric.unit)
            for value in (one.baseline_value, one.treatment_value)
        )
        rows.append(
            [
                Cell(f"{plain(named.get(one.treatment, one.treatment))}, {metric.title.lower()}"),
                *(Cell(text, "number") for text in changes(one)),
                Cell(values),
            ]
        )
        keys.append(RowKey(condition=one.treatment))
    note = (
        "No comparison of the study, so without a verdict. The interval is that of the whole, from "
        f"{numbers.count(analysis.chains[0].deployments, 'round')}: it is wider than the way's, "
        "because servers differ."
    )
    columns = ["Way, metric", *(f"{one[0].upper()}{one[1:]}" for one in COLUMNS)]
    return Table(title(analysis), columns, rows, [note], "chains", keys=keys)


def changes(one: Chain) -> tuple[str, str, str, str]:
    """Both links, the whole, and the whole's interval."""
    server, way = (numbers.change(link.ratio) for link in one.links)
    return server, way, numbers.change(one.ratio), numbers.interval(one.ci)
