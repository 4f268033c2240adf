"""`tare import` on the command line: exit status, JSON, and the report that it writes."""

from __future__ import annotations

import json
import re
import zipfile
from typing import TYPE_CHECKING

from typer.testing import CliRunner, Result

from tare.cli.commands import COMMANDS, build

if TYPE_CHECKING:
    from pathlib import Path


def tare(*arguments: str | Path) -> Result:
    return CliRunner().invoke(build(COMMANDS), [str(one) for one in arguments])


def test_all_files_in_is_0_and_leaves_a_report(results: Path, study: Path, run: Path) -> None:
    archive = results.parent / "results.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in results.iterdir():
            file.write(path, path.name)
    done = tare("import", "ycsb", archive, "--study", study, "--out", run)
    assert done.exit_code == 0, done.output
    assert "8 trials from 8 parts of files, 0 skipped" in done.output
    assert (run / "report.html").is_file()
    assert "bare_16_1.txt" in (run / "report.html").read_text(encoding="utf-8")


def test_some_skipped_is_3_and_json_names_them(results: Path, study: Path, run: Path) -> None:
    (results / "notes.md").write_text("hello", encoding="utf-8")
    done = tare("import", "ycsb", results, "--study", study, "--out", run, "--no-report", "--json")
    assert done.exit_code == 3
    document = json.loads(done.output)
    assert len(document["trials"]) == 8
    assert "its name does not fit the template" in document["skipped"][0]["reason"]
    assert document["report"] is None
    assert not (run / "report.html").exists()


def test_files_of_one_reason_are_one_line_and_faults_come_first(
    results: Path, study: Path, run: Path
) -> None:
    for number in range(9):
        (results / f"load{number}.md").write_text("hello", encoding="utf-8")
    (results / "docker_16_3.txt").write_text("nothing", encoding="utf-8")
    done = tare("import", "ycsb", results, "--study", study, "--out", run, "--no-report")
    fault, others, *_ = [line for line in done.output.splitlines() if line.startswith("skipped")]
    assert "docker_16_3.txt: no [OVERALL] block" in fault
    assert others.startswith("skipped 9 files: its name does not fit the template")
    assert others.endswith(" 6 more")
    kept = tare(
        "import", "ycsb", results, "--study", study, "--out", run.with_name("again"),
        "--no-report", "--exclude", "*.md", "--exclude", "docker_16_3.txt",
    )  # fmt: skip
    assert kept.exit_code == 0
    assert "10 left out by --include and --exclude" in kept.output


def test_a_result_that_is_not_valid_is_3(results: Path, study: Path, run: Path) -> None:
    for path in results.glob("docker_*.txt"):
        text = path.read_text(encoding="utf-8")
        found = re.search(r"\[READ\], Return=OK, (\d+)", text)
        assert found is not None
        ok = int(found[1])
        failed = f"[READ], Return=OK, {ok - 5000}\n[READ], Return=ERROR, 5000"
        path.write_text(text.replace(f"[READ], Return=OK, {ok}", failed), encoding="utf-8")
    done = tare("import", "ycsb", results, "--study", study, "--out", run)
    assert "Not valid" in done.output
    assert "0 skipped" in done.output
    assert done.exit_code == 3


def test_none_in_is_1(results: Path, study: Path, run: Path) -> None:
    done = tare("import", "latte", results, "--study", study, "--out", run)
    assert done.exit_code == 1
    assert "use tare import ycsb" in done.output.replace("\n", " ")
    assert not run.exists()


def test_json_names_no_run_that_was_never_made(results: Path, study: Path, run: Path) -> None:
    done = tare("import", "latte", results, "--study", study, "--out", run, "--json")
    assert done.exit_code == 1
    assert json.loads(done.output)["run"] is None


def test_one_is_no_plural(results: Path, study: Path, run: Path) -> None:
    only = results / "docker_16_1.txt"
    done = tare("import", "ycsb", only, "--study", study, "--out", run, "--no-report")
    assert "1 trial from 1 part of files, 0 skipped" in done.output


def test_a_hostile_name_cannot_speak_to_the_terminal_or_the_page(
    results: Path, study: Path, run: Path
) -> None:
    (results / "\x1b]0;owned\x07<img src=x onerror=y>_16_1.txt").write_text("x", encoding="utf-8")
    done = tare("import", "ycsb", results, "--study", study, "--out", run)
    assert done.exit_code == 3
    assert "\x1b]0" not in done.output
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page


def test_wrong_options_are_refused(results: Path, study: Path, run: Path) -> None:
    base = ["import", "hlog", results, "--study", study, "--out", run]
    for wrong in (
        ["--unit", "min"], ["--level", "threads"], ["--level", "threads=none"],
        ["--scope", "a b"], ["--interval", "-1"], ["--interval", "nan"],
    ):  # fmt: skip
        assert tare(*base, *wrong).exit_code != 0
    assert tare("import", "ysb", results, "--study", study, "--out", run).exit_code != 0
    assert not run.exists()
