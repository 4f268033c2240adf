"""The first screen shows each comparison's change, drawn interval, both values and verdict."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from tare.analysis.model import Extension
from tare.report import words
from tare.report.answer_cells import answer_cells
from tare.report.page import render_html

from .sample import sample_analysis
from .test_page import Page, words_of

if TYPE_CHECKING:
    from tare.analysis.model import Analysis
    from tare.report.answer_cells import AnswerCell


def cell(analysis: Analysis, treatment: str, metric: str) -> AnswerCell:
    cells = answer_cells(analysis, words.answers(analysis))
    return next(
        cells[i]
        for i, effect in enumerate(analysis.effects)
        if (effect.treatment, effect.metric) == (treatment, metric)
    )


def ends(bar: str) -> tuple[float, float]:
    """The left and right ends of the drawn interval."""
    lines = [one for one in ET.fromstring(bar).iter("line") if one.get("class") == "interval"]  # noqa: S314 - our own drawing
    return float(lines[0].get("x1", "")), float(lines[0].get("x2", ""))


def test_a_decided_comparison_has_change_interval_both_values_and_verdict() -> None:
    found = cell(sample_analysis(), "docker-bridge", "service_demand")
    assert (found.title, found.change, found.verdict) == (
        "Service demand",
        "16.2% higher",
        "different",
    )
    assert found.interval == "[+13.4%,\u00a0+19.0%]"
    assert found.values.startswith("131 \u2192 152 \u00b5s/op (+21.2 \u00b5s [")


def test_a_change_that_rounds_to_none_is_neither_higher_nor_lower() -> None:
    analysis = sample_analysis()
    one = next(e for e in analysis.effects if e.treatment == "docker-host")
    one.ratio, one.verdict = 0.9999, "equivalent"
    assert cell(analysis, "docker-host", one.metric).change == "0.0%"


def test_bars_of_one_metric_share_their_scale() -> None:
    analysis = sample_analysis()
    bridge = ends(cell(analysis, "docker-bridge", "throughput").bar)
    published = ends(cell(analysis, "docker-published", "throughput").bar)
    assert published[0] < bridge[0] < published[1] < bridge[1], "16% lower lies left of 12%"


def test_what_cannot_be_told_yet_says_its_range_and_what_decides() -> None:
    found = cell(sample_analysis(), "docker-host", "all.p99")
    assert found.change == "can't tell yet"
    assert found.interval.startswith("between ")
    assert (found.tone, found.verdict) == ("tie", "inconclusive")
    assert found.more


def test_a_margin_is_named_once() -> None:
    found = cell(sample_analysis(), "docker-host", "all.mean")
    assert f"{found.verdict} {found.more}" == "different within the margin (5%)"


def test_the_page_draws_a_bar_for_each_comparison_of_its_answer() -> None:
    analysis = sample_analysis()
    drawn = [one for one in Page(render_html(analysis)).tags("svg") if one.get("class") == "bar"]
    assert len(drawn) == len([line for one in words.answers(analysis) for line in one.lines])


def test_the_band_of_the_margin_is_explained_where_one_is_drawn() -> None:
    analysis = sample_analysis()
    assert "the grey band is the margin" in words_of(render_html(analysis))
    for effect in analysis.effects:
        effect.margin = None
    assert "the grey band is the margin" not in words_of(render_html(analysis))


def test_warnings_are_a_line_each_above_the_answer_with_what_to_do() -> None:
    analysis = sample_analysis()
    analysis.noise_floor[0].exceeds_margin = True
    for effect in analysis.effects:
        effect.verdict, effect.needed = "inconclusive", 12
    analysis.extension = Extension(
        rounds=15, now=3, seconds=7200, command="tare run study.yaml --rounds 15"
    )
    text = words_of(render_html(analysis))
    line = (
        "do not use undecided differences there. Not decided: 15 rounds instead of 3 "
        "(2.0 h more) should decide: tare run study.yaml --rounds 15"
    )
    assert text.index(line) < text.index("can't tell yet")
    assert len(re.findall("Not decided", text)) == 1


def test_the_checks_that_warn_are_named_before_the_answer() -> None:
    analysis = sample_analysis()
    warned = [one.name for one in analysis.checks if one.status != "ok"]
    text = words_of(render_html(analysis))
    assert warned
    line = f"Valid. {len(warned)} of {len(analysis.checks)} checks"
    assert text.index(line) < text.index("% higher")
