"""Others' findings, below the answer and in the table, open to their sources, also on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.report.write import write_report
from tests.browser.test_exports import rows_of, saved
from tests.report.test_others_found import others, with_others

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.browser.conftest import Opened

PHONE = {"viewport": {"width": 390, "height": 844}}
PLACE = "study-a, section 4.1, Table 1"


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(tmp_path_factory.mktemp("known"), with_others(others()))


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_a_line_opens_to_its_sources(
    opened: Callable[..., Opened], known: Path, settings: dict[str, object]
) -> None:
    page = opened(known, **settings).page
    line = page.locator("#answer details.others").first
    assert not line.get_by_text(PLACE).is_visible()
    line.locator("summary").click()
    assert line.get_by_text(PLACE).is_visible()
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wider <= 0


def test_a_cell_opens_too_and_saves_as_its_line(opened: Callable[..., Opened], known: Path) -> None:
    page = opened(known).page
    cell = page.locator("#effects-table details.others").first
    cell.locator("summary").click()
    assert cell.get_by_text(PLACE).is_visible()
    rows = rows_of(saved(page, "Save this table as CSV: Effects")[1])
    found = {row["Others found"] for row in rows}
    line = cell.locator("summary").inner_text()
    assert found == {f"'{line}", ""}, "guarded, for a spreadsheet would compute what begins with +"
    assert not any(PLACE in text for text in found)
