"""`tare replicate` as a shell sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tare.cli.commands import build
from tare.errors import KnowledgeError, UsageError
from tare.knowledge.library import VARIABLE
from tare.knowledge.replication.model import Scorecard
from tare.knowledge.replication.papers import shipped_names, study_file
from tare.knowledge.schema import KnowledgeFile, Work
from tare.knowledge.write import knowledge_yaml
from tare.lab.run import RunOutcome
from tare.study.plan import Plan, make_plan
from tare.study.read import load_study
from tests.knowledge.replication.published import PAIR, direction, printed
from tests.synthetic_run import write_run


@pytest.fixture(autouse=True)
def _nothing_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs") / "done"
    return write_run(place, effects=PAIR, between=0.004, within=0.004, blocks=2, measure_s=3)


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("knowledge")
    work = Work(id="synthetic", title="An invented study")
    found = [printed("synthetic.true", -10.0), direction("synthetic.up", "higher")]
    content = KnowledgeFile(format=1, work=work, findings=found)
    (place / "synthetic.yaml").write_text(knowledge_yaml(content, "Invented."), encoding="utf-8")
    return place


def replicate(*arguments: object) -> Result:
    words = ["replicate", *(str(argument) for argument in arguments)]
    return CliRunner().invoke(build(["replicate", "plan"]), words)


def test_a_run_that_exists_is_judged(run: Path, knowledge: Path) -> None:
    result = replicate(run / "study.yaml", "--of", run, "--knowledge", knowledge)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].startswith("1 agree, 1 disagree, 0 undecided, 0 not run here, of 2 findings")
    assert lines[0].endswith("The run is valid.")
    assert any("true" in line and "-10.0%" in line and "agrees" in line for line in lines)
    card = Scorecard.model_validate_json((run / "scorecard.json").read_bytes())
    assert {row.finding: row.verdict for row in card.rows} == {
        "synthetic.true": "agrees",
        "synthetic.up": "disagrees",
    }
    assert (run / "scorecard.md").read_text(encoding="utf-8").startswith("**1 agree")


def test_a_study_is_run_reported_and_judged(
    tmp_path: Path, knowledge: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[Path, Path, str | None, bool]] = []

    def measured(
        plan: Plan, study: Path, runs: Path, name: str | None, *, quiet: bool
    ) -> RunOutcome:
        made.append((study, runs, name, quiet))
        assert plan.study.study == "synthetic"
        place = runs / (name or "synthetic")
        write_run(place, effects=PAIR, between=0.004, within=0.004, blocks=2, measure_s=3)
        return RunOutcome(place, 0, ["D1-B01-native"])

    monkeypatch.setattr("tare.cli.replicating.measure", measured)
    monkeypatch.setattr("tare.cli.replicating.checked_plan", _plan_without_checks)
    study = run / "study.yaml"
    result = replicate(study, "--runs", tmp_path, "--name", "mine", "--knowledge", knowledge)
    assert result.exit_code == 0, result.output
    assert made == [(study, tmp_path, "mine", False)]
    names = {one.name for one in (tmp_path / "mine").iterdir()}
    assert {"report.html", "analysis.json", "scorecard.json", "scorecard.md"} <= names
    assert "1 agree, 1 disagree" in result.output
    assert "1 trials failed: D1-B01-native" in result.output


def _plan_without_checks(
    study: Path, overrides: object, where: Path, *, scale: object, only: object
) -> Plan:
    return make_plan(load_study(study))


def test_json_is_the_scorecard(run: Path, knowledge: Path) -> None:
    result = replicate(run / "study.yaml", "--of", run, "--knowledge", knowledge, "--json")
    assert result.exit_code == 0
    assert json.loads(result.output)["counts"]["agrees"] == 1


def test_a_run_that_is_not_valid_has_status_3(tmp_path: Path, knowledge: Path) -> None:
    saturated = [f"D{d}-B{b:02}-native" for d in (1, 2) for b in (1, 2)]
    bad = write_run(
        tmp_path / "bad", effects=PAIR, measure_s=3, deployments=2, blocks=2, saturated=saturated
    )
    result = replicate(bad / "study.yaml", "--of", bad, "--knowledge", knowledge)
    assert result.exit_code == 3
    assert "The run is NOT valid." in result.output.splitlines()[0]


@pytest.mark.parametrize(
    "option", [("--scale", "laptop"), ("--only", "a=b"), ("--set", "a=b"), ("--name", "x")]
)
def test_options_of_a_new_run_do_not_go_with_one_that_exists(
    run: Path, option: tuple[str, str]
) -> None:
    result = replicate("grambow-2018", "--of", run, *option)
    assert isinstance(result.exception, UsageError)
    assert option[0] in result.exception.what


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    result = replicate("grambow-2018", "--of", tmp_path / "none")
    assert isinstance(result.exception, UsageError)


def test_a_study_of_which_nothing_is_published_is_refused_before_anything_runs(
    run: Path, tmp_path: Path
) -> None:
    result = replicate(run / "study.yaml", "--runs", tmp_path)
    assert isinstance(result.exception, KnowledgeError)
    assert not list(tmp_path.iterdir())


def test_names_of_shipped_studies_are_found_and_near_ones_offered() -> None:
    assert study_file("grambow-2018").name == "grambow-2018.yaml"
    assert "grambow-2018" in shipped_names()
    with pytest.raises(UsageError) as caught:
        study_file("grambow-2019")
    assert "grambow-2018" in caught.value.remedy


@pytest.mark.parametrize("name", ["../grambow-2018", "studies/../grambow-2018", "no.yaml"])
def test_a_name_is_no_way_out_of_the_studies(name: str) -> None:
    with pytest.raises(UsageError):
        study_file(name)


def test_a_study_beside_the_studies_is_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "inside.yaml").write_text("study: inside\n", encoding="utf-8")
    (tmp_path / "outside.yaml").write_text("study: outside\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert study_file("inside") == Path("studies/inside.yaml")
    for name in ("../outside", "../studies/inside", str(tmp_path / "outside")):
        with pytest.raises(UsageError):
            study_file(name)
