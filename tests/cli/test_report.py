"""`tare report` and the knowledge base: what others found stands in it, and is never in its way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tare.cli.report import command, finish
from tare.errors import KnowledgeError
from tare.knowledge.library import VARIABLE
from tests.synthetic_run import QUICKSTART, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    levels = {name: QUICKSTART[name] for name in ("native", "docker-bridge")}
    made = tmp_path_factory.mktemp("runs") / "mine"
    return write_run(made, effects=levels, deployments=3, blocks=2, measure_s=3)


def known(run: Path) -> list[str]:
    """The metrics beside whose effects something stands."""
    effects = json.loads((run / "analysis.json").read_text(encoding="utf-8"))["effects"]
    return [effect["metric"] for effect in effects if effect["others"]]


def test_the_report_has_what_others_found(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    finish(run, json=True)
    assert {"throughput", "all.mean"} <= set(known(run))
    assert "Others found" in (run / "report.html").read_text(encoding="utf-8")
    assert "Others found" in (run / "report.md").read_text(encoding="utf-8")


def test_a_knowledge_base_that_cannot_be_read_costs_no_report(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "missing"))
    status = finish(run, json=True)
    assert status in (0, 3)
    said = capsys.readouterr()
    assert "without what others found" in said.err
    assert "missing" in said.err
    assert json.loads(said.out)["effects"]
    assert known(run) == []


def test_one_that_was_asked_for_by_name_is_refused_before_anything_is_written(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    (run / "report.html").unlink(missing_ok=True)
    with pytest.raises(KnowledgeError, match="no such knowledge base"):
        command(run, knowledge=[tmp_path / "missing"])
    assert not (run / "report.html").exists()
