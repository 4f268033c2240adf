"""`tare report` and the knowledge base: published findings are shown, and never stop it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tare.cli.finish import finish
from tare.cli.report import command
from tare.errors import KnowledgeError
from tare.knowledge.library import VARIABLE
from tests.synthetic_run import QUICKSTART, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    levels = {name: QUICKSTART[name] for name in ("native", "docker-bridge")}
    made = tmp_path_factory.mktemp("runs") / "mine"
    return write_run(made, effects=levels, deployments=3, blocks=2, measure_s=3)


def test_a_run_in_slices_has_a_report_that_invents_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    levels = {name: QUICKSTART[name] for name in ("native", "native-again", "docker-bridge")}
    made = write_run(
        tmp_path / "sliced", effects=levels, blocks=2, measure_s=3, slice_s=0.25, between=0.01,
        within=0.01,
    )  # fmt: skip
    assert finish(made, json=False) == 0
    said = " ".join(capsys.readouterr().out.split())
    demand, throughput = said.index("Service demand"), said.index("Throughput")
    assert demand < throughput < said.index("99th percentile") < said.index("Valid.")
    assert "0 warnings, 0 invalid" in said
    page, text = ((made / f"report.{kind}").read_text("utf-8") for kind in ("html", "md"))
    for words in ("instead of", "\u00b5s per operation", "Identical deployments differed by"):
        assert words in text
    for words in ("\u2192", "\u00b5s/op (", "Identical deployments differed by"):
        assert words in page
    assert 'id="timeline"' not in page, "there are no series to draw"
    assert "in slices of 0.25 s, in turn with the other conditions" in text
    exported = (made / "trials.csv").read_text("utf-8")
    assert "service_demand" in exported.partition("\n")[0]


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
