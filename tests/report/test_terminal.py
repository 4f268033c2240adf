"""The summary at the end of a run."""

from __future__ import annotations

import io

from rich.console import Console

from tare.analysis.model import Analysis
from tare.report.terminal import render_summary

from .sample import sample_analysis


def shown(analysis: Analysis, width: int = 200) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(render_summary(analysis))
    return out.getvalue()


def test_each_treatment_has_its_sentence_in_plain_characters() -> None:
    text = " ".join(shown(sample_analysis()).split())
    demand = "service demand 16.2% higher [+13.4%, +19.0%] than native (152 instead of 131"
    assert f"docker-bridge: {demand}" in text
    assert "; throughput 12.3% lower [-15.1%, -9.4%] than native: different;" in text
    assert "4 more deployments should decide" in text
    assert "Valid. 6 checks: 4 ok, 2 warnings, 0 invalid." in text


def test_an_invalid_result_is_said_first() -> None:
    analysis = sample_analysis()
    analysis.valid = False
    analysis.noise_floor[0].exceeds_margin = True
    text = shown(analysis)
    assert text.index("not valid") < text.index("12.3% lower") < text.index("Single blocks are")


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
    text = " ".join(shown(sample_analysis(), width=60).split())
    for verdict in ("equivalent", "different within the margin", "different", "inconclusive"):
        assert verdict in text
