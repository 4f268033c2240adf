"""The terminal summary at the end of a run."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tare.analysis.model import Analysis
from tare.report.answer_grid import answer_grids
from tare.report.numbers import MINUS, interval
from tare.report.terminal import render_summary
from tare.report.terminal_table import additions
from tare.report.words import primary_metrics
from tests.browser.sample import factorial_analysis

from .sample import sample_analysis


def shown(analysis: Analysis, width: int = 200) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(render_summary(analysis))
    return out.getvalue()


def test_each_primary_metric_has_a_table_in_plain_characters() -> None:
    lines = shown(sample_analysis()).splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("Throughput, ops/s"))
    assert lines[at + 1].split() == ["baseline", "treated", "change", "95%", "interval", "verdict"]
    assert lines[at + 2].strip() == "over native"
    (row,) = [one for one in lines[at:] if "docker-bridge" in one and "-12.3%" in one]
    assert row.split()[3:] == ["-12.3%", "[-15.1%,", "-9.4%]", "different"]
    text = " ".join(" ".join(lines).split())
    assert "4 more rounds should decide" in text
    assert "Valid. 6 checks: 4 ok, 2 warnings, 0 invalid." in text


@pytest.mark.parametrize("width", [80, 100])
def test_it_fits_and_breaks_no_number(width: int) -> None:
    analysis = sample_analysis()
    text = shown(analysis, width)
    assert max(map(len, text.splitlines())) <= width
    assert "\u2026" not in text
    primary = {one.name for one in primary_metrics(analysis)}
    for effect in analysis.effects:
        if effect.metric in primary:
            assert interval(effect.ci).replace(MINUS, "-") in text


def test_eighty_columns_break_no_name_where_a_verdict_can_have_three_lines() -> None:
    analysis = sample_analysis()
    for one in analysis.effects:
        if one.treatment == "docker-bridge":
            one.treatment = "docker-bridge.loopback"
    text = shown(analysis, 80)
    assert "docker-bridge.loopback" in text
    assert max(map(len, text.splitlines())) <= 80


def test_eighty_columns_hold_the_longest_verdict_of_the_quickstart_in_two_lines() -> None:
    analysis = sample_analysis()
    for one in analysis.effects:
        if one.treatment == "native-again":
            one.treatment, one.verdict = "native-again.loopback", "different within the margin"
            one.ci = (1.202, 1.221)
    lines = shown(analysis, 80).splitlines()
    at = [n for n, line in enumerate(lines) if "native-again.loopback" in line]
    assert len(at) == 4
    for n in at:
        assert lines[n].rstrip().endswith(("different within", "different"))
        assert lines[n + 1].rstrip().endswith(("the margin", "within margin"))


def test_what_a_warning_says_is_not_said_again_as_a_check() -> None:
    analysis = sample_analysis()
    analysis.noise_floor[0].exceeds_margin = True
    analysis.checks[0].name, analysis.checks[0].status = "noise floor", "warning"
    analysis.checks[0].summary = "what the check says of it"
    text = shown(analysis)
    assert "Identical setups differed in single blocks" in text
    assert analysis.checks[0].summary not in text


def test_a_check_that_says_more_than_a_warning_is_said() -> None:
    """The check covers all metrics with a margin, the warning only primary ones."""
    analysis = sample_analysis()
    for floor in analysis.noise_floor:
        floor.exceeds_margin = True
    for effect in analysis.effects:
        effect.primary = effect.metric == "throughput"
    analysis.checks[0].name, analysis.checks[0].status = "noise floor", "warning"
    analysis.checks[0].summary = "it exceeds the margin in single blocks on all.p99, throughput"
    text = shown(analysis)
    assert "Identical setups differed in single blocks of throughput by more" in text
    assert analysis.checks[0].summary in text


def test_a_sentence_follows_only_where_it_adds_to_the_table() -> None:
    analysis = sample_analysis()
    for effect in analysis.effects:
        effect.verdict = "equivalent"
    analysis.noise_floor = []
    assert additions(analysis) == []
    analysis.effects[0].verdict, analysis.effects[0].needed = "inconclusive", 3
    (sentence,) = additions(analysis)
    assert sentence.endswith(": 3 more rounds should decide.")


def test_an_invalid_result_is_said_first() -> None:
    analysis = sample_analysis()
    analysis.valid = False
    analysis.noise_floor[0].exceeds_margin = True
    text = shown(analysis)
    assert text.index("not valid") < text.index("-12.3%") < text.index("Identical setups differed")


def test_names_are_neither_markup_nor_terminal_codes() -> None:
    analysis = sample_analysis()
    for one in analysis.effects:
        if one.treatment == "docker-bridge":
            one.treatment = "[red]x[/red]\x1b]0;title\x07"
    text = shown(analysis)
    assert "[red]x[/red]" in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_narrow_terminal_loses_no_verdict() -> None:
    text = shown(sample_analysis(), width=60)
    for word in ("equivalent", "within the", "margin", "inconclusive"):
        assert word in text


@pytest.mark.parametrize("width", [80, 140])
def test_a_grid_that_is_too_wide_goes_on_below_and_breaks_no_interval(width: int) -> None:
    analysis = factorial_analysis()
    text = shown(analysis, width)
    assert max(map(len, text.splitlines())) <= width
    found = [cell for grid in answer_grids(analysis) for _, row in grid.rows for cell in row]
    assert found
    for grid in answer_grids(analysis):
        for _, row in grid.rows[: grid.leading or None]:
            for cell in filter(None, row):
                assert cell.interval.replace(MINUS, "-") in text
        for name in grid.columns:
            assert name in text
