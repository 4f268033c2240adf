"""Findings in the terminal, by study and comparison, and as CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tare.knowledge.rendering import COLUMNS, change_of, load_of, row, side_of
from tare.report.numbers import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.cli.console import Terminal
    from tare.knowledge.library import Entry
    from tare.knowledge.schema import Finding


def groups(found: Sequence[Entry], console: Terminal) -> None:
    """The findings of each comparison of each study, under its heading."""
    studies: dict[str, dict[str, list[Finding]]] = {}
    for entry in found:
        own = studies.setdefault(entry.finding.study, {})
        own.setdefault(_comparison(entry.finding), []).append(entry.finding)
    for study, comparisons in studies.items():
        number = count(sum(map(len, comparisons.values())), "finding")
        console.print(Text.assemble((study, "bold"), f"  {number}"))
        for comparison, findings in comparisons.items():
            console.print(f"  {comparison}")
            console.print(Padding(_table(findings), (0, 0, 0, 4)))
        console.print()
    console.print(f"{count(len(found), 'finding')}; tare findings show ID tells all about one")


def _comparison(finding: Finding) -> str:
    baseline = side_of(finding.baseline)
    return f"{side_of(finding.treatment)} over {baseline}" if finding.treatment else baseline


def _table(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column("id", overflow="fold")
    table.add_column("change", no_wrap=True, justify="right")
    table.add_column("metric", no_wrap=True)
    table.add_column("load", overflow="fold")
    for one in findings:
        table.add_row(one.id, change_of(one), one.metric, load_of(one.load))
    return table


def as_csv(found: Sequence[Entry]) -> str:
    """All columns of the findings."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for entry in found:
        writer.writerow({name: _harmless(value) for name, value in row(entry).items()})
    return text.getvalue()


def _harmless(value: object) -> object:
    """No text begins as a spreadsheet's formula does; numbers keep their sign."""
    risky = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if risky else value
