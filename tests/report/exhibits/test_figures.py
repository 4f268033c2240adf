"""Exhibits in the page, in Markdown and as files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from tare.analysis.model import Analysis, Chart, Exhibit, Grid, Layer
from tare.report.exhibits.figures import exhibit_figures
from tare.report.markdown import render_markdown
from tare.report.page import render_html
from tare.report.write import write_report
from tests.report.sample import sample_analysis

if TYPE_CHECKING:
    from pathlib import Path


def exhibit(name: str = "mean-bars-1", charts: int = 1, **changes: object) -> Exhibit:
    layer = Layer(
        kind="bars", series="native", x=[0], y=[5], labels=["a bar"], conditions=[["native"]],
        trials=[["t1"]],
    )  # fmt: skip
    chart = Chart(title="P", x_title="", y_title="Latency", categories=["all"], layers=[layer])
    return Exhibit(
        name=name,
        kind="mean-bars",
        title="Means",
        caption="How to read it.",
        after="Somebody 2018, Figure 2",
        charts=[chart] * charts,
        grids=[Grid(columns=["A", "B"], units=["", "us"], rows=[["x", 12.0]])],
    ).model_copy(update=changes)


def analysis(*shown: Exhibit) -> Analysis:
    return sample_analysis().model_copy(update={"exhibits": list(shown)})


def test_the_page_shows_each_with_title_caption_source_and_table() -> None:
    page = render_html(analysis(exhibit()))
    section = page[page.index('<section id="exhibits"') :]
    section = section[: section.index("</section>")]
    for part in ("What the study asked for", "Means", "How to read it.", "Somebody 2018, Figure 2"):
        assert part in section
    assert 'data-figure="mean-bars-1"' in section
    assert 'data-label="a bar' in section
    assert "12.0 \u00b5s" in section
    assert 'href="#exhibits"' in page


def test_a_page_without_any_has_no_section() -> None:
    assert 'id="exhibits"' not in render_html(analysis())


def test_what_cannot_be_drawn_has_its_caption_and_no_figure() -> None:
    missing = exhibit(charts=0, grids=[], caption="Not in the records: cpu.util.")
    page = render_html(analysis(missing))
    assert "Not in the records: cpu.util." in page
    assert 'data-figure="mean-bars-1"' not in page
    assert exhibit_figures(analysis(missing)) == {}


def test_foreign_names_are_escaped() -> None:
    evil = exhibit(title="<img src=x>", caption="<b>bold</b>")
    assert "<img src=x>" not in render_html(analysis(evil))
    assert "<b>bold" not in render_html(analysis(evil))


def test_markdown_has_caption_figure_and_table() -> None:
    text = render_markdown(analysis(exhibit()))
    assert "![Means](figures/mean-bars-1.svg)" in text
    assert "| x | 12.0 \u00b5s |" in text


def test_each_figure_is_a_file_and_stale_ones_go(tmp_path: Path) -> None:
    write_report(tmp_path, analysis(exhibit(), exhibit("mean-bars-2", charts=4)))
    files = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {"mean-bars-1.svg", "mean-bars-2.svg"} <= files
    root = ET.parse(tmp_path / "figures" / "mean-bars-2.svg").getroot()  # noqa: S314 - our own
    assert root.get("width")
    (tmp_path / "figures" / "my-own-1.svg").write_text("kept", encoding="utf-8")
    write_report(tmp_path, analysis(exhibit()))
    files = {path.name for path in (tmp_path / "figures").iterdir()}
    assert "mean-bars-2.svg" not in files
    assert {"mean-bars-1.svg", "my-own-1.svg"} <= files
