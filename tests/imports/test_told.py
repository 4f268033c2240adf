"""Files' statements about their tools are kept, compared and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.imports.properties import PREFIX
from tare.records.reader import read_run
from tare.report.page import render_html
from tests.imports.conftest import DATA, TWO_PLATFORMS

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis
    from tests.imports.conftest import Import

HEAD = (DATA / "ycsb-cassandra-a-t.stderr.txt").read_text(encoding="utf-8").partition("Loading")[0]
CASSANDRA = HEAD + (DATA / "ycsb-cassandra-a-t.txt").read_text(encoding="utf-8")
MONGODB = (DATA / "ycsb-ferretdb-a-t.txt").read_text(encoding="utf-8")
GO = (DATA / "go-ycsb-cassandra-a-run.txt").read_text(encoding="utf-8")


def analysed(import_: Import, study: Path, tmp_path: Path, run: Path, docker: str) -> Analysis:
    """An analysis of native YCSB results, and of results with the text `docker` in containers."""
    study.write_text(TWO_PLATFORMS, encoding="utf-8")
    files = tmp_path / "files"
    files.mkdir()
    for number in (1, 2):
        (files / f"native_{number}.txt").write_text(CASSANDRA, encoding="utf-8")
        (files / f"docker_{number}.txt").write_text(docker, encoding="utf-8")
    assert not import_("ycsb", files).skipped
    return analyse(run)


@pytest.mark.parametrize(
    ("docker", "fact", "values"),
    [
        (GO, "tool", {"YCSB": ["native"], "go-ycsb": ["docker"]}),
        (MONGODB, "database binding", {"cassandra": ["native"], "mongodb": ["docker"]}),
        (MONGODB, "threads", {"16": ["native"], "4": ["docker"]}),
        (CASSANDRA.replace("recordcount=10000", "recordcount=2000000"), "property recordcount",
         {"10000": ["native"], "2000000": ["docker"]}),
        (CASSANDRA.replace("hosts=127.0.0.1,127.0.0.2,127.0.0.3", "hosts=10.0.0.7"),
         "property hosts", {"127.0.0.1,127.0.0.2,127.0.0.3": ["native"], "10.0.0.7": ["docker"]}),
        (CASSANDRA.replace("0.17.0", "0.12.0"), "tool version",
         {"0.17.0": ["native"], "0.12.0": ["docker"]}),
    ],
)  # fmt: skip
def test_a_difference_in_what_the_files_tell_is_shown_and_warned_of(
    import_: Import,
    study: Path,
    tmp_path: Path,
    run: Path,
    docker: str,
    fact: str,
    values: dict[str, list[str]],
) -> None:
    analysis = analysed(import_, study, tmp_path, run, docker)
    (found,) = [one for one in analysis.parity if one.fact == fact]
    assert (found.values, found.expected) == (values, False)
    (check,) = [one for one in analysis.checks if one.name == "parity"]
    assert check.status == "warning"
    assert fact in check.summary


def test_what_is_alike_is_not_called_a_proof(
    import_: Import, study: Path, tmp_path: Path, run: Path
) -> None:
    analysis = analysed(import_, study, tmp_path, run, CASSANDRA)
    assert analysis.parity == []
    page = render_html(analysis)
    assert "No compared fact differed" not in page
    assert "Not known: the files tell little of what ran" in page
    assert "what the study declares; the files do not tell" in page


def test_the_manifest_keeps_what_a_file_tells(
    import_: Import, study: Path, tmp_path: Path, run: Path
) -> None:
    analysed(import_, study, tmp_path, run, GO)
    sources = {one.name: one.manifest.source for one in read_run(run).trials}
    native, docker = sources["D1-B01-native"], sources["D1-B01-docker"]
    assert native is not None
    assert docker is not None
    own = {name: value for name, value in native.told.items() if PREFIX not in name}
    assert own == {
        "tool": "YCSB", "tool version": "0.17.0", "database binding": "cassandra",
        "read consistency": "QUORUM", "write consistency": "QUORUM", "threads": "16",
    }  # fmt: skip
    assert native.told["property recordcount"] == "10000"
    assert native.told["property hosts"] == "127.0.0.1,127.0.0.2,127.0.0.3"
    assert docker.told["tool"] == "go-ycsb"
    assert docker.told["database binding"] == "cassandra"


def test_more_repetitions_than_the_study_plans_are_noted(
    import_: Import, study: Path, tmp_path: Path
) -> None:
    study.write_text(TWO_PLATFORMS, encoding="utf-8")
    for number in (1, 3):
        (tmp_path / f"native_{number}.txt").write_text(CASSANDRA, encoding="utf-8")
    outcome = import_("ycsb", *sorted(tmp_path.glob("native_*.txt")))
    assert any("repetition 3 is imported where the study says" in note for note in outcome.notes)
