"""The database of imported files: what study or files say; a default says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.analysis.analyse import analyse
from tare.analysis.stated_database import database_said, stated_database
from tare.errors import KnowledgeError
from tare.imports.run import Request, import_files
from tare.knowledge.from_run import About, findings_of
from tare.knowledge.library import load_library
from tare.knowledge.others_found import others_for
from tare.records.manifest import ImportSource
from tare.study.read import load_study
from tests.imports.conftest import DATA, STUDY, names

YCSB = (DATA / "ycsb-cassandra-a-t.txt").read_text(encoding="utf-8")
NAMED = "Command line: -t -db site.ycsb.db.CassandraCQLClient -P workloada\n"


@pytest.mark.parametrize(
    ("said", "tool", "binding", "database"),
    [
        ("", "ycsb", "", ""),
        ("", "csv", "", ""),
        ("", "ycsb", "CassandraCQLClient", "cassandra"),
        ("", "ycsb", "mongodb", "mongodb"),
        ("", "cassandra-stress", "", "cassandra"),
        ("database: {kind: cassandra}", "ycsb", "", "cassandra"),
        ("platform: {runtime: docker}", "ycsb", "", ""),
    ],
)
def test_study_file_or_tool_say_it_or_nobody_does(
    tmp_path: Path, said: str, tool: str, binding: str, database: str
) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(f"{STUDY}{said}\n", encoding="utf-8")
    study = load_study(path)
    source = ImportSource(
        tool=tool, files=[], told={"database binding": binding} if binding else {}
    )
    levels = {"platform": "native", "threads": "few"}
    assert stated_database(study, levels, "cassandra", source) == database


def imported(tmp_path: Path, text: str) -> Path:
    study, files = tmp_path / "study.yaml", tmp_path / "files"
    study.write_text(STUDY, encoding="utf-8")
    files.mkdir()
    for name in names("bare", "docker"):
        (files / name).write_text(text, encoding="utf-8")
    return import_files(Request("ycsb", [files], study, tmp_path / "run")).run


def test_files_that_name_no_database_are_called_so_and_nothing_is_looked_up_for_cassandra(
    tmp_path: Path,
) -> None:
    run = imported(tmp_path, YCSB)
    analysis, study = analyse(run), load_study(run / "study.yaml")
    settings = analysis.provenance["settings"]
    assert {one["database"]["kind"] for one in settings.values()} == {"not said"}
    assert all("version" not in one["database"] for one in settings.values())
    assert database_said(analysis, settings) == ""
    with pytest.raises(KnowledgeError, match="which database this was is not said"):
        findings_of(analysis, study, About(imported=True))
    found = others_for(analysis, study, load_library(environment={}))
    assert found, "others are found of any database"


def test_files_that_name_theirs_are_of_that_one(tmp_path: Path) -> None:
    run = imported(tmp_path, f"{NAMED}{YCSB}")
    analysis, study = analyse(run), load_study(run / "study.yaml")
    assert database_said(analysis, analysis.provenance["settings"]) == "cassandra"
    made = findings_of(analysis, study, About(imported=True))
    assert {one.database for one in made.findings} == {"cassandra"}
