"""Findings in the terminal, by study and comparison, and as CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from rich.text import Text

from tare.cli.console import print_indented
from tare.knowledge.rendering import COLUMNS, change_of, load_of, row, side_of
from tare.report.escaping import no_formula
from tare.report.numbers import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.cli.console import Terminal
    from tare.knowledge.library import Entry
    from tare.knowledge.schema import Finding

INDENT = " " * 4
"""Before a finding, below its comparison."""
GAP = "  "


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
            print_indented(console, [f"  {comparison}"])
            _rows(findings, console)
        console.print()
    console.print(f"{count(len(found), 'finding')}; tare findings show ID tells all about one")


def _comparison(finding: Finding) -> str:
    baseline = side_of(finding.baseline)
    return f"{side_of(finding.treatment)} over {baseline}" if finding.treatment else baseline


def _rows(findings: Sequence[Finding], console: Terminal) -> None:
    """One line per finding; if it does not fit, the id is on a line above the rest."""
    cells = [(one.id, change_of(one), one.metric, load_of(one.load)) for one in findings]
    name, change, metric, load = (max(map(len, column)) for column in zip(*cells, strict=True))
    fits = len(INDENT) + name + change + metric + load + 3 * len(GAP) <= console.width
    for id_, *rest in cells:
        told = GAP.join((rest[0].rjust(change), rest[1].ljust(metric), rest[2])).rstrip()
        lines = [f"{id_.ljust(name)}{GAP}{told}"] if fits else [id_, GAP + told]
        print_indented(console, (INDENT + line for line in lines))


def as_csv(found: Sequence[Entry]) -> str:
    """All columns of the findings."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for entry in found:
        writer.writerow({name: _harmless(value) for name, value in row(entry).items()})
    return text.getvalue()


def _harmless(value: object) -> object:
    """No text may begin like a spreadsheet formula; numbers keep their sign."""
    return no_formula(value) if isinstance(value, str) else value
