"""A way into a server over another server: both links of the chain, and their sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import listing
from tare.report import numbers
from tare.report.escaping import plain
from tare.report.labels import condition_labels
from tare.report.table import Cell, RowKey, Table
from tare.report.words import in_sentence

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Chain

COLUMNS = ("in all", "95% interval", "server", "way")
"""Of a row in the terminal."""


def title(analysis: Analysis) -> str:
    """The ends of the chains, and the way between."""
    named = condition_labels(analysis)
    from_, through = (
        listing(list(dict.fromkeys(plain(named.get(one, one)) for one in names)))
        for names in (
            [one.baseline for one in analysis.chains],
            [one.through for one in analysis.chains],
        )
    )
    return f"In all over {from_}: the server ({through}), then the way into it"


def summary(analysis: Analysis) -> str:
    """The whole cost of each way over the other server, by the first metric; empty: no chains."""
    if not analysis.chains:
        return ""
    first = analysis.chains[0]
    metric = next(one for one in analysis.metrics if one.name == first.metric)
    named = condition_labels(analysis)
    ways = [
        f"{plain(named.get(one.treatment, one.treatment))} {whole} {interval}"
        for one in analysis.chains
        if (one.metric, one.baseline) == (first.metric, first.baseline)
        for whole, interval, *_ in [changes(one)]
    ]
    over = plain(named.get(first.baseline, first.baseline))
    return f"In all over {over}, {in_sentence(metric)}: {'; '.join(ways)}."


def chains_table(analysis: Analysis) -> Table | None:
    """A row for each way, a column for each metric; None: no way's server is compared with another
    server."""
    if not analysis.chains:
        return None
    titles = {one.name: one.title for one in analysis.metrics}
    named = condition_labels(analysis)
    by_place = {(one.treatment, one.metric): one for one in analysis.chains}
    metrics = list(dict.fromkeys(one.metric for one in analysis.chains))
    ways = list(dict.fromkeys(one.treatment for one in analysis.chains))
    rows = [
        [
            Cell(plain(named.get(way, way))),
            *(_cell(by_place.get((way, metric))) for metric in metrics),
        ]
        for way in ways
    ]
    note = (
        "No comparison of the study, so without a verdict. The interval is that of the whole, from "
        f"{numbers.count(analysis.chains[0].deployments, 'round')}, between which servers differ; "
        "it is not made of the links' intervals."
    )
    columns = ["Way", *(titles[metric] for metric in metrics)]
    keys = [RowKey(condition=way) for way in ways]
    return Table(title(analysis), columns, rows, [note], "chains", keys=keys)


def _cell(one: Chain | None) -> Cell:
    if one is None:
        return Cell("")
    whole, interval, server, way = changes(one)
    return Cell(f"{whole} {interval}: {server}, then {way}", value=one.ratio)


def changes(one: Chain) -> tuple[str, str, str, str]:
    """The whole and its interval, then both links."""
    server, way = (numbers.change(link.ratio) for link in one.links)
    return numbers.change(one.ratio), numbers.interval(one.ci), server, way
