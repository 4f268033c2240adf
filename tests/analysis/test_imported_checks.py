"""What imported files make doubtful or invalid, seen through whole imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.analyse import analyse
from tare.imports.run import Request, import_files
from tare.report.exports import trials_table
from tare.report.markdown import render_markdown
from tare.report.words import alerts
from tests.analysis.checked import check

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tare.analysis.model import Analysis

STUDY = """\
study: files
factors:
  platform: {native: {}, docker: {platform.runtime: docker, platform.network: bridge}}
  threads: {"5": {load.threads: 5}, "10": {load.threads: 10}}
baseline: {platform: native, threads: "5"}
design: {fresh: trial, deployments: 1, blocks: 2}
margins: {throughput: 5%}
analysis: {compare: [platform], by: [threads]}
files: {template: "{platform}_{threads}_{repetition}.csv"}
"""
ALL = [f"{p}_{t}_{r}" for p in ("native", "docker") for t in (5, 10) for r in (1, 2)]


def analysed(tmp_path: Path, names: Iterable[str], study: str = STUDY, text: str = "") -> Analysis:
    """An import of a small table per name; each table has its own values."""
    files = tmp_path / "files"
    files.mkdir()
    for number, name in enumerate(names):
        own = text or f"throughput,read.mean\n{1000 + number},{500 + number}\n"
        (files / f"{name}.csv").write_text(own, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(study, encoding="utf-8")
    template = "{platform}_{threads}_{repetition}.csv"
    run = tmp_path / "run"
    outcome = import_files(Request("csv", [files], tmp_path / "study.yaml", run, template=template))
    assert not outcome.skipped
    return analyse(run)


def test_all_conditions_with_files(tmp_path: Path) -> None:
    found = check(analysed(tmp_path, ALL), "trials")
    assert (found.status, found.summary) == ("ok", "8 imported trials, 2 of each condition")


def test_a_treatment_without_files_is_invalid(tmp_path: Path) -> None:
    """Both of its levels have files elsewhere: only this combination is missing."""
    analysis = analysed(tmp_path, [n for n in ALL if not n.startswith("docker_10")])
    found = check(analysis, "trials")
    assert found.status == "invalid"
    assert "3 of 4 conditions of the study have files" in found.summary
    assert "docker.10 against native.10: no interval" in found.details[0]
    assert not analysis.valid


def test_a_level_that_no_file_has_is_left_out_and_named(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, [n for n in ALL if "_5_" in n])
    found = check(analysis, "trials")
    assert found.status == "warning"
    assert "2 of 4 conditions of the study have files" in found.summary
    assert "left out, for no file has it: threads 10" in found.details
    assert analysis.valid


def test_one_condition_alone_compares_nothing(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, ["docker_5_1", "docker_5_2"])
    found = check(analysis, "trials")
    assert found.status == "invalid"
    assert "1 of 4 conditions of the study have files" in found.summary


def test_one_repetition_is_too_few_and_the_alert_says_what_it_takes(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, [n for n in ALL if n.endswith("_1")])
    assert not analysis.valid
    (alert,) = [a for a in alerts(analysis) if a.headline.startswith("There is no answer")]
    assert "two repetitions of both" in alert.remedy


def test_identical_files_are_no_repetitions(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, ALL, text="throughput,read.mean\n1000,500\n")
    found = check(analysis, "identical files")
    assert found.status == "warning"
    assert found.details[0].startswith("the same file, byte for byte: D1-B01-docker.10")
    assert "native.5, all 2 repetitions: throughput" in found.details
    assert "identical files" not in {c.name for c in analysed_apart(tmp_path).checks}


def analysed_apart(tmp_path: Path) -> Analysis:
    apart = tmp_path / "apart"
    apart.mkdir()
    return analysed(apart, ALL)


def test_a_primary_endpoint_that_no_file_has(tmp_path: Path) -> None:
    study = STUDY.replace("by: [threads]", "by: [threads], primary: [throughput, all.p99]")
    found = check(analysed(tmp_path, ALL, study), "primary endpoints")
    assert found.status == "warning"
    assert "all.p99" in found.summary
    assert "read.mean" in found.details[0]


def test_tables_leave_open_what_files_do_not_tell_and_count_by_numbers(tmp_path: Path) -> None:
    table = trials_table(analysed(tmp_path, ALL))
    assert table["saturated"].to_pylist() == [None] * 8
    first = [name for name in table["trial"].to_pylist() if name.startswith("D1-B01-native")]
    assert first == ["D1-B01-native.5", "D1-B01-native.10"]


def test_the_report_does_not_say_that_nothing_differed(tmp_path: Path) -> None:
    page = render_markdown(analysed(tmp_path, ALL))
    assert "Not known: the files tell little of what ran" in page
    assert "what the study declares; the files do not tell" in page
