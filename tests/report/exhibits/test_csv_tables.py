"""Tables of exhibits as CSV: full numbers, distinct columns, no stale files."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from tare.analysis.model import Exhibit, Grid
from tare.report.exhibits.csv_tables import exhibit_files, grid_table
from tare.report.write import write_report
from tests.report.sample import sample_analysis

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis

MEANS = Grid(
    columns=["platform", "Read", "95% low", "95% high", "Update", "95% low", "95% high"],
    units=["", "us", "us", "us", "us", "us", "us"],
    rows=[
        ["native", 1234.56789, 1200.0, 1270.0, 10.5, None, None],
        ["=docker", 1500.0, None, None, 12.0, 11.0, 13.0],
    ],
)
COUNTS = Grid(columns=["Order", "Pairs"], units=["", "count"], rows=[["native < docker", 3.0]])


def shown(*exhibits: Exhibit) -> Analysis:
    return sample_analysis().model_copy(update={"exhibits": list(exhibits)})


def rankings(*grids: Grid) -> Exhibit:
    return Exhibit(name="rankings-1", kind="rankings", title="R", caption="", grids=list(grids))


def test_each_table_is_a_file_of_its_own() -> None:
    found = dict(exhibit_files(shown(rankings(MEANS, COUNTS))))
    assert list(found) == ["tables/rankings-1-1.csv", "tables/rankings-1-2.csv"]
    assert found["tables/rankings-1-2.csv"] == "Order,Pairs\nnative < docker,3.0\n"


def test_numbers_are_whole_and_heads_have_units_and_differ() -> None:
    (text,) = dict(exhibit_files(shown(rankings(MEANS)))).values()
    heads, first, second = csv.reader(io.StringIO(text))
    assert heads == [
        "platform",
        "Read (us)",
        "Read, 95% low (us)",
        "Read, 95% high (us)",
        "Update (us)",
        "Update, 95% low (us)",
        "Update, 95% high (us)",
    ]
    assert first == ["native", "1234.56789", "1200.0", "1270.0", "10.5", "", ""]
    assert second[0] == "'=docker", "a spreadsheet would compute it"


def test_columns_of_the_same_name_without_any_before_stay_apart() -> None:
    grid = Grid(columns=["a", "a"], units=["", ""], rows=[["x", 1.0]])
    assert len(set(grid_table(grid).column_names)) == 2


def test_a_table_that_the_report_has_no_more_is_deleted(tmp_path: Path) -> None:
    write_report(tmp_path, shown(rankings(MEANS, COUNTS)))
    own = tmp_path / "tables" / "rankings-of-mine.csv"
    own.write_text("kept")
    write_report(tmp_path, shown(rankings(MEANS)))
    assert sorted(p.name for p in own.parent.iterdir()) == ["rankings-1-1.csv", own.name]
