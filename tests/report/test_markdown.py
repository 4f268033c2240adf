"""The Markdown report has the page's order and words, and escapes foreign text."""

from __future__ import annotations

from markdown_it import MarkdownIt

from tare.report.markdown import escape, render_markdown
from tare.report.methods import methods_paragraph

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
    assert "docker-bridge: service demand 16.2% higher" in text


def test_an_invalid_result_is_said_before_the_answer() -> None:
    analysis = sample_analysis()
    analysis.valid = False
    analysis.noise_floor[0].exceeds_margin = True
    text = render_markdown(analysis)
    assert text.index("NOT VALID") < text.index("## The answer") < text.index("WARNING")
    assert text.index("WARNING") < text.index("## Can it be trusted?")


def test_tables_are_tables_with_every_effect_and_trial() -> None:
    analysis = sample_analysis()
    html = READER.render(render_markdown(analysis))
    assert html.count("<table>") == 6
    rows = 2 * len(analysis.effects) + len(analysis.trials) + len(analysis.conditions)
    rows += len(analysis.noise_floor) + len(analysis.parity)
    assert html.count("<tr>") == rows + 6


def test_only_the_answer_and_its_validity_are_open() -> None:
    text = render_markdown(sample_analysis())
    first = text.index("<details>")
    assert text.index("## Can it be trusted?") < first < text.index("| Metric |")
    html = READER.render(text)
    assert html.count("<details>") == html.count("<summary>") == html.count("</details>")
    for title in ("Effects", "Methods, ready to paste", "Trials", "Provenance"):
        assert f"<summary>{title}</summary>" in html


def test_the_methods_and_what_to_cite_are_in_it() -> None:
    analysis = sample_analysis()
    analysis.study = "grambow-2018"
    text = render_markdown(analysis)
    assert escape(methods_paragraph(analysis)) in text
    block = text.partition("```bibtex\n")[2].partition("\n```")[0]
    assert block.startswith("@techreport{grambow2018dockerization,")
    assert "@misc{tare," in block


def test_a_stand_in_is_given_no_release_of_mongodbs() -> None:
    analysis = sample_analysis()
    told = {"kind": "mongodb", "version": "7.0", "stand_in": "FerretDB v1.24.0 (a ...)"}
    analysis.provenance["database"] = told
    paragraph = methods_paragraph(analysis)
    assert "We measured FerretDB v1.24.0 (a ...), in" in paragraph


def test_the_methods_name_the_hosts_that_took_part() -> None:
    analysis = sample_analysis()
    host = {"cpus": "8", "memory": "16777216", "kernel": "6.1"}
    environment = {"machine": {"cpus": 2}, "hosts": {"db1": host, "db2": host, "load1": {}}}
    analysis.provenance["environment"] = environment
    paragraph = methods_paragraph(analysis)
    alike = "db1 and db2 (8 CPUs, 16.0 GiB of memory, Linux 6.1)"
    assert f"Hosts over SSH took part: {alike}; load1 (nothing known)." in paragraph
    assert "The machine that controlled the hosts had 2 CPUs" in paragraph


def test_what_is_too_long_for_a_comment_is_left_out_and_named() -> None:
    analysis = sample_analysis()
    analysis.trials *= 20
    text = render_markdown(analysis)
    assert len(text) < 65_536
    assert "Too long for this page, and in report.html: trials." in text
    assert "<summary>Provenance</summary>" in text, "what still fits is there"


def test_hostile_names_stay_text_in_every_part() -> None:
    analysis = sample_analysis()
    evil = "</details><script>x</script>"
    analysis.conditions[1].condition = analysis.effects[0].treatment = evil
    analysis.provenance[evil] = {evil: "```"}
    html = READER.render(render_markdown(analysis))
    assert "<script" not in html
    assert html.count("<details>") == html.count("</details>")


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
