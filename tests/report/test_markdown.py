"""The Markdown report: same order, same words, foreign text escaped."""

from __future__ import annotations

from markdown_it import MarkdownIt

from tare.report.markdown import escape, render_markdown

from .sample import sample_analysis

READER = MarkdownIt("commonmark", {"html": True}).enable("table")


def test_the_answer_comes_first() -> None:
    text = render_markdown(sample_analysis())
    places = [
        text.index(part)
        for part in ("# What does", "## The answer", "## Can it be trusted?", "## All numbers")
    ]
    assert places == sorted(places)
    assert "[\u22122.3%, +0.5%]" in text
    assert "docker-bridge: throughput 12.3% lower" in text


def test_an_invalid_result_is_said_before_the_answer() -> None:
    analysis = sample_analysis()
    analysis.valid = False
    analysis.noise_floor[0].exceeds_margin = True
    text = render_markdown(analysis)
    assert text.index("NOT VALID") < text.index("WARNING") < text.index("## The answer")


def test_tables_are_tables_with_every_effect_and_trial() -> None:
    analysis = sample_analysis()
    html = READER.render(render_markdown(analysis))
    assert html.count("<table>") == 6
    rows = 2 * len(analysis.effects) + len(analysis.trials) + len(analysis.conditions)
    rows += len(analysis.noise_floor) + len(analysis.parity)
    assert html.count("<tr>") == rows + 6


def test_foreign_text_shows_as_it_is() -> None:
    hostile = "<script>x</script> | [a](javascript:b) `c` *d* www.example.org http://e \n# f"
    html = READER.render(f"- {escape(hostile)}\n\n| a |\n| --- |\n| {escape(hostile)} |")
    for tag in ("<script", "<a ", "<code>", "<em>", "<h1"):
        assert tag not in html
    shown = "&lt;script&gt;x&lt;/script&gt; | [a](javascript:b) `c` *d* www.example.org http://e"
    assert html.count(shown) == 2


def test_a_line_cannot_become_a_heading_or_a_list() -> None:
    for text in ("# a", "## a", "- a", "1. a", "2) a", "---", "===", "+ a", "[a]", "[a]: b"):
        html = READER.render(escape(text))
        assert html.strip() == f"<p>{text}</p>"
