"""Page, Markdown, terminal and methods list the conditions that could not be run."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tare.analysis.model import Analysis, LeftOut, NotCompared
from tare.report.left_out import MOST_NAMES, sentences, tables
from tare.report.markdown import render_markdown
from tare.report.methods import methods_paragraph
from tare.report.page import render_html
from tare.report.terminal import render_summary
from tare.report.write import to_json

from .sample import sample_analysis

WHY = "this version makes no KVM machines"
HOSTILE = "<b>kvm</b>"


@pytest.fixture
def analysis() -> Analysis:
    found = sample_analysis()
    found.left_out = [
        LeftOut(condition=name, levels={"platform": name}, why=WHY, remedy="try `tare compare`")
        for name in ("kvm", "kvm-bridge")
    ]
    found.not_compared = [
        NotCompared(treatment="kvm", baseline="native", left_out=["kvm"], partly=False),
        NotCompared(treatment="all", baseline="native", left_out=["kvm"], partly=True),
    ]
    return found


def terminal(analysis: Analysis) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(render_summary(analysis))
    return out.getvalue()


def test_conditions_reasons_and_missing_answers_are_sentences(analysis: Analysis) -> None:
    assert sentences(analysis) == [
        "2 of 7 planned conditions could not be run; the result says nothing of them.",
        f"platform kvm, kvm-bridge (2 conditions): {WHY}.",
        "Not compared: kvm against native.",
        "1 average is over fewer conditions than the study asks for.",
    ]


def test_every_form_of_the_report_says_it(analysis: Analysis) -> None:
    for text in (render_html(analysis), render_markdown(analysis), terminal(analysis)):
        assert "What could not be run" in text
        assert WHY in text
    assert '<section id="left-out">' in render_html(analysis)
    assert '<a href="#left-out">' in render_html(analysis)
    assert "5, 2 more left out" in render_markdown(analysis)
    assert f"2 further conditions of the study could not be run: {WHY}." in methods_paragraph(
        analysis
    )


def test_json_holds_all_of_it(analysis: Analysis) -> None:
    back = Analysis.model_validate_json(to_json(analysis))
    assert (back.left_out, back.not_compared) == (analysis.left_out, analysis.not_compared)


def test_tables_list_each(analysis: Analysis) -> None:
    conditions, comparisons = tables(analysis)
    assert [cell.text for cell in conditions.rows[0]] == [
        "kvm", "platform: kvm", WHY, "try `tare compare`",
    ]  # fmt: skip
    assert [row[3].text for row in comparisons.rows] == ["nothing", "an average over the others"]


def test_nothing_is_said_where_nothing_was_left_out() -> None:
    analysis = sample_analysis()
    assert (sentences(analysis), tables(analysis)) == ([], [])
    for text in (render_html(analysis), render_markdown(analysis), terminal(analysis)):
        assert "could not be run" not in text
        assert 'id="left-out"' not in text


def test_of_many_the_first_are_named_and_the_page_lists_them(analysis: Analysis) -> None:
    analysis.left_out = [
        LeftOut(condition=f"kvm{n}", levels={}, why=WHY, remedy="") for n in range(1000)
    ]
    (said,) = (text for text in sentences(analysis) if WHY in text)
    assert said.startswith(f"kvm0, kvm1, kvm2, kvm3, kvm4, kvm5 and {1000 - MOST_NAMES} more: ")
    page = render_html(analysis)
    assert "Shown are the first 300 of 1,000" in page


def test_foreign_names_stay_text(analysis: Analysis) -> None:
    analysis.left_out[0].condition = HOSTILE
    analysis.left_out[0].why = HOSTILE
    analysis.left_out[0].remedy = HOSTILE
    assert HOSTILE not in render_html(analysis)
    assert HOSTILE not in render_markdown(analysis)
