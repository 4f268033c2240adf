"""The files of a report."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from tare.analysis.model import Analysis
from tare.report.write import to_json, write_report

from .sample import sample_analysis

if TYPE_CHECKING:
    from pathlib import Path


def test_a_report_is_a_page_markdown_json_and_figures(tmp_path: Path) -> None:
    page = write_report(tmp_path, sample_analysis())
    assert page == tmp_path / "report.html"
    files = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert files == [
        "analysis.json",
        "effects.csv",
        "figures/effects.svg",
        "figures/latency.svg",
        "figures/timeline.svg",
        "report.html",
        "report.md",
        "trials.csv",
        "trials.parquet",
    ]
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_writing_twice_gives_the_same_files(tmp_path: Path) -> None:
    write_report(tmp_path, sample_analysis())
    first = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    write_report(tmp_path, sample_analysis())
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == first


def test_a_figure_without_data_leaves_no_old_file(tmp_path: Path) -> None:
    write_report(tmp_path, sample_analysis())
    write_report(tmp_path, sample_analysis().model_copy(update={"series": []}))
    assert not (tmp_path / "figures" / "timeline.svg").exists()
    assert (tmp_path / "figures" / "effects.svg").exists()


def test_the_json_reads_back_as_the_same_analysis(tmp_path: Path) -> None:
    analysis = sample_analysis()
    write_report(tmp_path, analysis)
    read = Analysis.model_validate_json((tmp_path / "analysis.json").read_text("utf-8"))
    assert read == analysis


def test_the_json_is_strict_and_keeps_what_is_no_number() -> None:
    analysis = sample_analysis()
    analysis.effects[0].ci = (0.0, math.inf)
    analysis.effects[0].sd_log = math.nan

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    text = to_json(analysis)
    json.loads(text, parse_constant=refuse)
    read = Analysis.model_validate_json(text)
    assert read.effects[0].ci == (0.0, math.inf)
    assert math.isnan(read.effects[0].sd_log)


def test_the_json_has_what_every_effect_must_have() -> None:
    for effect in json.loads(to_json(sample_analysis()))["effects"]:
        assert {
            "metric",
            "levels",
            "baseline",
            "treatment",
            "ratio",
            "ci",
            "verdict",
            "blocks",
        } <= (effect.keys())
