"""Page, text and terminal show both links of a way to a server through another server."""

from __future__ import annotations

import io

from rich.console import Console

from tare.analysis.model import Analysis, Chain, ChainLink
from tare.report.chains import chains_table, summary
from tare.report.markdown import render_markdown
from tare.report.page import render_html
from tare.report.terminal import render_summary
from tests.report.sample import sample_analysis

LINKS = [
    ChainLink(baseline="native", treatment="docker-host", ratio=1.05, ci=(1.03, 1.07)),
    ChainLink(baseline="docker-host", treatment="docker-published", ratio=1.2, ci=(1.19, 1.21)),
]
CHAIN = Chain(
    metric="service_demand",
    levels={"platform": "docker-published"},
    baseline="native",
    through="docker-host",
    treatment="docker-published",
    links=LINKS,
    ratio=1.26,
    ci=(1.23, 1.29),
    baseline_value=100.0,
    treatment_value=126.0,
    deployments=8,
    method="paired.",
)
TITLE = "In all over native: the server (docker-host), then the way into it"


def analysed() -> Analysis:
    return sample_analysis().model_copy(update={"chains": [CHAIN]})


def test_the_table_has_both_links_the_whole_and_its_interval() -> None:
    table = chains_table(analysed())
    assert table is not None
    assert table.title == TITLE
    assert table.columns == ["Way", "Service demand"]
    (row,) = table.rows
    assert [cell.text for cell in row] == [
        "docker-published", "+26.0% [+23.0%, +29.0%]: +5.0%, then +20.0%",
    ]  # fmt: skip
    assert "without a verdict" in table.notes[0]
    assert chains_table(sample_analysis()) is None


def test_the_first_screen_begins_with_the_whole() -> None:
    told = "In all over native, service demand: docker-published +26.0% [+23.0%, +29.0%]."
    assert summary(analysed()) == told
    page = render_html(analysed())
    assert page.index(told) < page.index(TITLE)
    assert summary(sample_analysis()) == ""


def test_every_form_of_the_report_has_it() -> None:
    analysis = analysed()
    out = io.StringIO()
    Console(file=out, width=80).print(render_summary(analysis))
    for text in (render_html(analysis), render_markdown(analysis), out.getvalue()):
        assert TITLE in text
        assert "+26.0%" in text
    assert max(map(len, out.getvalue().splitlines())) <= 80
