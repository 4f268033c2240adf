"""Exhibits in the page, from the Grambow study's files: hover, filter, zoom and export."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.imports.run import Request, import_files
from tare.report.write import write_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.conftest import Opened

TESTS = Path(__file__).parents[1]
RAW = TESTS / "imports" / "data" / "grambow-2018-m3.medium-ycsb.zip"
STUDY = TESTS.parent / "studies" / "grambow-2018.yaml"
CHANGES = '[data-figure="relative-change-1"]'
MEDIANS = '[data-figure="median-run-1"]'


@pytest.fixture(scope="module")
def grambow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = import_files(Request("ycsb", [RAW], STUDY, tmp_path_factory.mktemp("g") / "run")).run
    return write_report(run, analyse(run))


def test_a_bar_tells_its_change_interval_verdict_and_trials(
    opened: Callable[..., Opened], grambow: Path
) -> None:
    one = opened(grambow)
    one.page.locator(f"{CHANGES} .panels.wide .panel").nth(1).locator(".mark .bar").first.hover(
        position={"x": 4, "y": 4}  # beside the whisker
    )
    lines = one.tip().splitlines()
    assert lines[0].startswith("client docker, server native, threads 10, ")
    assert lines[1].startswith("Change: 1.79% [")
    assert lines[2].startswith("30 trials: ")


def test_a_repetition_tells_which_run_it_was(opened: Callable[..., Opened], grambow: Path) -> None:
    one = opened(grambow)
    one.page.locator(f"{MEDIANS} .panels.wide .minor .marker").first.hover()
    assert "native.native.50.twcs.off.m3-medium" in one.tip()
    assert "Mean latency" in one.tip()


def test_the_filter_hides_marks_whose_conditions_are_all_hidden(
    opened: Callable[..., Opened], grambow: Path
) -> None:
    one = opened(grambow)
    marks = one.page.locator(f"{CHANGES} .panels.wide .mark:not(.off)")
    before = marks.count()
    one.page.locator("#filter summary").first.click()
    one.page.locator('#filter-form input[data-factor="threads"][value="10"]').uncheck()
    # hides one of three steps for three treatments in both drawings, but no averages
    assert marks.count() == before - 6


def test_the_csv_holds_the_table_of_the_paper(opened: Callable[..., Opened], grambow: Path) -> None:
    one = opened(grambow)
    figure = one.page.locator(CHANGES)
    with one.page.expect_download() as download:
        figure.get_by_role("button", name="Save the numbers as CSV").click()
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    row = next(line for line in text.splitlines() if line.startswith("10,update.mean"))
    assert [round(float(cell), 2) for cell in row.split(",")[2:]] == [0, 1.79, 5.13, 4.53]


def test_the_svg_is_a_drawing_of_its_own(opened: Callable[..., Opened], grambow: Path) -> None:
    one = opened(grambow)
    with one.page.expect_download() as download:
        one.page.locator(MEDIANS).get_by_role("button", name="Save as SVG").click()
    root = ET.parse(download.value.path()).getroot()  # noqa: S314 - our own drawing
    text = "".join(root.itertext())
    assert "Mean latency, read" in text
    assert ".layer .marker" in text  # includes its style sheet


def test_it_fits_a_phone(opened: Callable[..., Opened], grambow: Path) -> None:
    one = opened(grambow, viewport={"width": 390, "height": 800})
    width: int = one.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    one.page.get_by_role("button", name="What the study asked for").click()
    assert one.page.locator(f"{CHANGES} .panels.narrow").is_visible()
