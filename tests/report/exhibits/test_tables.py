"""Tables of exhibits print numbers as the papers do."""

from __future__ import annotations

import pytest

from tare.analysis.model import Exhibit, Grid
from tare.report.exhibits.tables import exhibit_tables, number_text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.42, "%", "1.42%"),
        (-0.094, "%", "\u22120.09%"),
        (-0.001, "%", "0.00%"),
        (10432.0, "us", "10.4 ms"),
        (5, "count", "5"),
        (0.46979, "number", "0.4698"),
        (15624.3, "number", "15,624"),
        (-0.0000123, "number", "\u22121.230 \u00d7 10^\u22125"),
        (0, "number", "0"),
        (float("nan"), "%", "n/a"),
    ],
)
def test_numbers_by_their_unit(value: float, unit: str, text: str) -> None:
    assert number_text(value, unit) == text


def test_a_table_keeps_values_for_sorting_and_export() -> None:
    grid = Grid(
        columns=["Metric", "Change"], units=["", "%"], rows=[["read", 1.234], ["scan", None]]
    )
    exhibit = Exhibit(name="spread-1", kind="spread", title="S", caption="", grids=[grid])
    (table,) = exhibit_tables(exhibit)
    assert table.name == "spread-1-table-1"
    assert table.rows[0][1].value == 1.234
    assert table.rows[1][1].text == ""
    assert table.units == {1: "%"}
