"""Differences between two sides that imported files record are shown first beside the effect."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console

from tare.analysis.model import ParityDifference
from tare.report import words
from tare.report.also_differs import grid_note
from tare.report.markdown import render_markdown
from tare.report.page import render_html
from tare.report.tables import effects_table
from tare.report.terminal import render_summary

from .sample import sample_analysis

if TYPE_CHECKING:
    from tare.analysis.model import Analysis

SAID = "recordcount 10000000 instead of 2000000"


def with_other_records(analysis: Analysis) -> Analysis:
    """The analysis as if imported, with more rows loaded in docker-bridge."""
    rest = [one.condition for one in analysis.conditions if one.condition != "docker-bridge"]
    told = [
        ParityDifference(
            fact="property recordcount",
            values={"2000000": rest, "10000000": ["docker-bridge"]},
            expected=False,
        ),
        ParityDifference(
            fact="property hosts",
            values={"127.0.0.1": rest, "not told": ["docker-bridge"]},
            expected=False,
        ),
    ]
    told.append(
        ParityDifference(
            fact="property target",
            values={"1 and 2": rest, "3 and 4": ["docker-bridge"]},
            expected=False,
        )
    )
    sources = {**analysis.provenance, "sources": {"files": "2"}}
    return analysis.model_copy(update={"parity": told, "provenance": sources})


def test_what_else_differs_stands_first_beside_the_effect() -> None:
    analysis = with_other_records(sample_analysis())
    found = {one.treatment: one for one in words.answers(analysis)}
    assert found["docker-host"].differs == ""
    said = found["docker-bridge"]
    assert said.apart == "recordcount 10000000 instead of 2000000"
    assert ": not the same apart from that: recordcount" in said.sentence


def test_of_tare_s_own_runs_the_check_of_parity_speaks() -> None:
    analysis = with_other_records(sample_analysis())
    own = analysis.model_copy(update={"provenance": sample_analysis().provenance})
    assert not any(one.differs for one in words.answers(own))


def test_every_form_of_the_report_says_it_before_the_numbers() -> None:
    analysis = with_other_records(sample_analysis())
    terminal = Console(file=StringIO(), width=120, force_terminal=False)
    terminal.print(render_summary(analysis))
    assert isinstance(terminal.file, StringIO)
    for text in (render_html(analysis), render_markdown(analysis), terminal.file.getvalue()):
        assert SAID in text
        assert text.index(SAID) < text.index("12.3%")


def test_the_table_of_effects_has_it_in_the_rows_that_it_is_about() -> None:
    table = effects_table(with_other_records(sample_analysis()))
    place = table.columns.index("Not the same apart from that")
    found = {row[place].text for row in table.rows if row[1].css == "docker-bridge"}
    assert found == {SAID}
    assert {row[place].text for row in table.rows} == {SAID, ""}
    assert "Not the same apart from that" not in effects_table(sample_analysis()).columns


def test_a_table_of_many_comparisons_says_of_how_many() -> None:
    analysis = with_other_records(sample_analysis())
    (said,) = grid_note(analysis, [e for e in analysis.effects if e.metric == "throughput"])
    assert said.startswith("In 1 comparison of 4 more differs than the study says: recordcount")
    assert grid_note(sample_analysis(), sample_analysis().effects) == []
