"""The evidence behind comparisons, in tables: distances of identical setups, other differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.report import numbers, words
from tare.report.table import Cell, Table

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, NoiseFloor, ParityDifference


def noise_table(analysis: Analysis) -> Table:
    """How far apart identical setups were."""
    columns = ["Metric", "Identical conditions", "Noise floor (pairs)",
               "Noise floor (deployments)", "Against the margin"]  # fmt: skip
    rows = [
        [
            Cell(words.metric_of(analysis, f.metric).title),
            Cell(" and ".join(f.conditions)),
            Cell(numbers.share(f.floor), "number"),
            Cell(numbers.share(f.deployment_floor), "number"),
            _against_margin(f, words.margin_of(analysis, f.metric)),
        ]
        for f in sorted(
            analysis.noise_floor, key=lambda f: words.margin_of(analysis, f.metric) is None
        )
    ]
    note = "Noise floor: 95% of the pairs of identical setups (A/A) were within this change."
    return Table("Noise floor", columns, rows, [note], "noise-floor")


def _against_margin(floor: NoiseFloor, margin: float | None) -> Cell:
    if margin is None:
        return Cell("no margin declared")
    if floor.exceeds_margin:
        return Cell(f"pairs exceed the margin of {numbers.share(margin)}", "flag")
    return Cell(f"within the margin of {numbers.share(margin)}")


def parity_table(differences: list[ParityDifference]) -> Table:
    """Facts that differ between conditions, unexpected ones first."""
    rows = []
    for difference in sorted(differences, key=lambda d: d.expected):
        values = "; ".join(
            f"{value}: {', '.join(names)}" for value, names in difference.values.items()
        )
        kind = (
            Cell("expected, the study varies it")
            if difference.expected
            else Cell("unexpected", "flag")
        )
        rows.append([Cell(difference.fact), kind, Cell(values)])
    return Table(
        "Parity differences", ["Fact", "Expected", "Value: conditions"], rows, [], "parity-table"
    )
