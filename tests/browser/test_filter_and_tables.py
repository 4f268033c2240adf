"""The filter changes answer, figures and table rows; the address keeps the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tare.report.write import write_report
from tests.browser.sample import factorial_analysis

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.browser.conftest import Opened


@pytest.fixture(scope="module")
def factorial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(tmp_path_factory.mktemp("factorial"), factorial_analysis())


def test_unticking_a_level_hides_it_everywhere_and_says_so(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report).page
    rows = page.locator("#effects .panels.wide .panel").first.locator("g.row:visible")
    height = page.locator("#effects .panel").first.bounding_box()
    assert rows.count() == 4
    page.locator("#filter summary").first.click()
    page.get_by_role("checkbox", name="docker-bridge").uncheck()
    assert rows.count() == 3
    after = page.locator("#effects .panel").first.bounding_box()
    assert height
    assert after
    assert after["height"] < height["height"], "the rows below move up"
    assert page.locator("article.answer:visible h3").all_inner_texts() != []
    assert not page.locator("article.answer:visible", has_text="docker-bridge").count()
    assert not page.locator("#timeline .box:visible", has_text="docker-bridge").count()
    assert not page.locator("#effects-table tr:visible", has_text="docker-bridge").count()
    assert not page.locator("#latency .legend li:visible", has_text="docker-bridge").count()
    assert page.locator("#filter-note").inner_text() == (
        "hidden: platform docker-bridge (1 of 5 conditions, 5 of 20 effects, 12 of 60 trials)"
    )
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#filter-note")).to_have_text("all are shown")
    assert rows.count() == 4
    assert "view" not in page.url


def test_the_address_brings_the_view_back(opened: Callable[..., Opened], report: Path) -> None:
    page = opened(report).page
    page.locator("#filter summary").first.click()
    page.get_by_role("checkbox", name="docker-host").uncheck()
    page.locator("#effects g.row[data-m=e2] .area").click(position={"x": 4, "y": 61})
    _, _, fragment = page.url.partition("#")
    again = opened(report, f"#{fragment}").page
    assert "docker-host" in again.locator("#filter-note").inner_text()
    assert not again.locator("#filter input[value=docker-host]").is_checked()
    assert again.locator("tr.hit").count() == 22


def test_a_link_inside_the_page_keeps_the_view(opened: Callable[..., Opened], report: Path) -> None:
    page = opened(report, "#view?level.platform=docker-host").page
    page.get_by_role("link", name="All numbers").click()
    assert page.evaluate("document.activeElement.id") == "tables"
    assert "docker-host" in page.locator("#filter-note").inner_text()


def test_an_address_of_nothing_known_is_harmless(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report, "#view?level.x=y&condition=%3Cimg%3E&trials=e9999&level.__proto__=z").page
    assert page.locator("#filter-note").inner_text() == "all are shown"


def test_many_comparisons_are_answered_by_a_table_of_treatments_and_levels(
    opened: Callable[..., Opened], factorial: Path
) -> None:
    page = opened(factorial).page
    assert "comparisons on primary metrics" in page.locator("#answer .summary").first.inner_text()
    table = page.locator("#answer table").first
    assert table.locator("thead th").all_inner_texts()[1:] == ["t16", "t64", "t256"]
    row = table.locator("tbody tr", has_text="docker-bridge")
    assert row.locator("td").count() == 3
    assert "+16.2%" in row.locator("td").first.inner_text()
    assert "different" in (row.locator("td").first.text_content() or "")
    row.locator("td a").first.click()
    assert page.locator("tr.hit").count() == 22


def test_a_hidden_level_takes_its_column_along(
    opened: Callable[..., Opened], factorial: Path
) -> None:
    page = opened(factorial).page
    page.locator("#filter summary").first.click()
    page.locator("#filter").get_by_role("checkbox", name="t64", exact=True).uncheck()
    heads = page.locator("#answer table").first.locator("thead th:visible").all_inner_texts()
    assert heads[1:] == ["t16", "t256"]


def test_a_click_on_a_column_sorts_by_its_numbers(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report).page
    table = page.locator("#effects-table")
    head = table.locator("thead th", has_text="Baseline value")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    values = table.locator("tbody td:nth-child(9)").evaluate_all("c => c.map(e => +e.dataset.v)")
    assert values == sorted(values)
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    values = table.locator("tbody td:nth-child(9)").evaluate_all("c => c.map(e => +e.dataset.v)")
    assert values == sorted(values, reverse=True)
