"""The figures of Grambow 2018 from the authors' own files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.imports.run import Request, import_files
from tare.report.exhibits.tables import exhibit_tables
from tests.analysis.exhibits.scene import numbers

if TYPE_CHECKING:
    from tare.analysis.model import Exhibit

TESTS = Path(__file__).parents[2]
RAW = TESTS / "imports" / "data" / "grambow-2018-m3.medium-ycsb.zip"
STUDY = TESTS.parent / "studies" / "grambow-2018.yaml"

# Table 3, setups I to IV, as printed
TABLE_3 = """\
10 read.mean 0.00% 1.42% 1.84% 1.21%
10 update.mean 0.00% 1.79% 5.13% 4.53%
25 read.mean 0.00% -0.09% -0.01% 0.69%
25 update.mean 0.00% 0.50% 3.06% 3.73%
50 read.mean 0.00% 2.51% -0.52% -0.97%
50 update.mean 0.00% 2.72% 2.66% 2.20%
avg over threads read.mean 0.00% 1.28% 0.44% 0.31%
avg over threads update.mean 0.00% 1.67% 3.62% 3.49%
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Exhibit]:
    run = tmp_path_factory.mktemp("grambow") / "run"
    return analyse(import_files(Request("ycsb", [RAW], STUDY, run)).run).exhibits


def median_runs(found: list[Exhibit], compaction: str) -> Exhibit:
    return next(
        one
        for one in found
        if one.kind == "median-run"
        and f"{compaction}, " in one.title
        and "50" in one.title
        and "150" not in one.title
    )


def test_table_3_is_as_printed_to_the_last_digit(found: list[Exhibit]) -> None:
    table = exhibit_tables(next(one for one in found if one.kind == "relative-change"))[0]
    printed = "".join(" ".join(cell.text for cell in row) + "\n" for row in table.rows)
    assert printed.replace("\u2212", "-") == TABLE_3


def test_figure_3_has_the_deviations_that_its_caption_prints(found: list[Exhibit]) -> None:
    """ "stddev: 0.21 to 1.38ms for m3.medium"."""
    grid = median_runs(found, "twcs").grids[0]
    sds = [
        value
        for metric in ("read", "update")
        for value in numbers(grid, f"Mean latency, {metric}: sd over runs")
    ]
    assert round(min(sds) / 1000, 2) == 0.21
    assert round(max(sds) / 1000, 2) == 1.38


def test_figure_5_plots_five_runs_and_the_deviations_of_the_text(found: list[Exhibit]) -> None:
    """ "below 0.95 ms for setup II and around 2 ms for the other setups"."""
    exhibit = median_runs(found, "stcs")
    sds = [
        round(v / 1000, 1) for v in numbers(exhibit.grids[0], "Mean latency, read: sd over runs")
    ]
    assert sds == [2.1, 1.0, 2.1, 1.8]
    layers = exhibit.charts[0].layers
    reads = [layer for layer in layers if layer.series.endswith("read") and layer.kind == "points"]
    assert sum(len(layer.x) for layer in reads) == 4 * 5


def test_what_the_other_half_would_show_is_said_to_be_missing(found: list[Exhibit]) -> None:
    missing = [one for one in found if not one.charts]
    assert {"threads 150" in one.title for one in missing} == {True}
    assert all("no trials" in one.caption for one in missing)
