"""The page's buttons save figures as SVG, PNG and CSV, and tables as CSV."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from tests.browser.sample import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.browser.conftest import Opened

SVG = "{http://www.w3.org/2000/svg}"


def saved(page: Page, label: str) -> tuple[str, bytes]:
    """Name and content of the file that the button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=label, exact=True).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@pytest.mark.parametrize("figure", ["Effects", "Latency", "Over time"])
def test_a_figure_saves_as_svg_with_title_text_and_style(
    opened: Callable[..., Opened], report: Path, figure: str
) -> None:
    name, content = saved(opened(report).page, f"Save as SVG: {figure}")
    assert name.startswith("quickstart-")
    assert name.endswith(".svg")
    root = ET.fromstring(content)  # noqa: S314 - our own page's
    assert (root.findtext(f"{SVG}title") or "").startswith(figure)
    assert "quickstart" in (root.findtext(f"{SVG}desc") or "")
    assert len(list(root.iter(f"{SVG}path"))) > 5
    style = root.findtext(f"{SVG}style") or ""
    assert "--k1" in style
    assert "prefers-color-scheme" not in style, "what is saved is for paper"


def test_a_figure_saves_as_png_of_twice_the_size(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report, color_scheme="dark").page
    root = ET.fromstring(saved(page, "Save as SVG: Latency")[1])  # noqa: S314 - our own page's
    name, content = saved(page, "Save as PNG: Latency")
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    assert name == "quickstart-latency.png"
    assert picture.size == (2 * int(root.get("width", "0")), 2 * int(root.get("height", "0")))
    assert picture.getpixel((2, 2)) == (255, 255, 255)
    assert len(picture.getcolors(1 << 24) or []) > 50, "lines and letters are on it"


def test_the_effects_save_as_numbers(opened: Callable[..., Opened], report: Path) -> None:
    page = opened(report, "#view?level.platform=docker-host").page
    _, content = saved(page, "Save the numbers as CSV: Effects")
    rows = rows_of(content)
    assert {row["treatment"] for row in rows} == {
        "native-again",
        "docker-bridge",
        "docker-published",
    }
    first = next(
        r for r in rows if (r["metric"], r["treatment"]) == ("throughput", "docker-bridge")
    )
    assert float(first["ratio"]) == pytest.approx(0.877)
    assert float(first["ci_low"]) == pytest.approx(0.8485, abs=1e-4)
    assert first["verdict"] == "different"


def test_the_series_save_as_every_drawn_point(opened: Callable[..., Opened], report: Path) -> None:
    rows = rows_of(saved(opened(report).page, "Save the numbers as CSV: Over time")[1])
    one = [r for r in rows if (r["trial"], r["series"]) == ("D1-B01-native", "throughput")]
    assert [float(r["t_s"]) for r in one] == list(range(20))
    assert all(5_000 < float(r["value"]) < 30_000 for r in one)


def test_a_table_saves_with_units_and_plain_numbers(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report).page
    with page.expect_download() as download:
        page.locator("details:has(#conditions)").get_by_role(
            "button", name="Save this table"
        ).click()
    rows = rows_of(Path(download.value.path()).read_bytes())
    native = next(row for row in rows if row["Condition"].startswith("native "))
    assert float(native["Throughput (operations/s)"]) == 14_180
    assert len(rows) == 5


def test_no_saved_text_is_a_formula_or_leaves_its_cell(
    opened: Callable[..., Opened], hostile_report: Path
) -> None:
    page = opened(hostile_report).page
    name, content = saved(page, "Save the numbers as CSV: Effects")
    rows = rows_of(content)
    assert f"'{HOSTILE}" in {row["treatment"] for row in rows}
    texts = [
        value for row in rows for key, value in row.items() if key in ("treatment", "baseline")
    ]
    assert not [text for text in texts if text.strip()[0] in "=+-@"]
    assert "/" not in name
    assert not name.startswith(".")
    root = ET.fromstring(saved(page, "Save as SVG: Effects")[1])  # noqa: S314 - our own page's
    assert not [e for e in root.iter() if e.tag.endswith(("script", "img"))]
    assert not [a for e in root.iter() for a in e.attrib if a.startswith("on")]
