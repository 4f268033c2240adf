"""A run until decided, from its first round to its report, and its extension.

Rounds are not measured here: their records are those of an invented run.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tare.analysis.analyse import analyse
from tare.cli import measuring as cli_run
from tare.lab import run as lab_run
from tare.lab.journal import Journal
from tare.lab.run import Lab
from tare.records.looks import read_looks
from tare.report.markdown import render_markdown
from tare.study.plan import make_plan
from tare.study.read import load_study
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from tare.lab.run import RunOutcome
    from tare.study.plan import Round

CLEAR = {"native": Truth(), "docker": Truth(throughput=0.6, tail=2.0, patch=docker("host"))}
OPEN = {"native": Truth(), "docker": Truth(throughput=0.96, patch=docker("host"))}


class NoResources:
    def environment(self) -> dict[str, Any]:
        return {}

    def close(self) -> list[Any]:
        return []


class Scene:
    """A study whose rounds were all made up beforehand."""

    def __init__(self, directory: Path, truths: dict[str, Truth], noise: float) -> None:
        self.runs = directory / "runs"
        self.invented = write_run(
            directory / "invented", effects=truths, deployments=10, blocks=2, measure_s=2,
            between=noise, within=noise,
        )  # fmt: skip
        self.file = directory / "x.yaml"
        shutil.copy(self.invented / "study.yaml", self.file)

    def run(self, *overrides: str, extend: bool = False) -> RunOutcome:
        """One session."""
        study = load_study(self.file, ["design.idle_cpus=halt", "design.reset=keep", *overrides])
        plan = make_plan(study)
        return cli_run.measure(
            plan, self.file, self.runs, None, quiet=True, command="tare run x.yaml", extend=extend
        )


@pytest.fixture
def invented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rounds take their records from there."""

    def measured(self: Any, turn: Round, resources: Any) -> None:
        for trial in self._pending(turn):
            record = self._directory.files.trial(trial.name).root
            shutil.copytree(tmp_path / "invented" / "trials" / trial.name, record)
            self._done.add(trial.name)

    monkeypatch.setattr(Lab, "_round", measured)
    monkeypatch.setattr(Lab, "_sweep", lambda *_: None)
    monkeypatch.setattr(lab_run, "prepare", lambda *_: NoResources())
    for module in (lab_run, cli_run):
        monkeypatch.setattr(module, "RunLock", lambda *_: memoryview(b""))
    return tmp_path


UNTIL = ("design.deployments=8", "design.until=decided")


def test_a_clear_effect_ends_the_run_at_the_planned_look(invented: Path) -> None:
    run = Scene(invented, CLEAR, 0.003).run(*UNTIL).directory
    assert sorted({trial.name[:2] for trial in (run / "trials").iterdir()})[-1] == "D5"
    assert json.loads((run / "plan.json").read_text())["looks"] == [5]
    events = Journal(run / "journal.jsonl").events()
    assert [e["event"] for e in events] == ["run begun", "look", "run finished"]
    assert (events[1]["fraction"], events[1]["decided"]) == (0.625, True)
    text = render_markdown(analyse(run))
    assert "ended after 5 of at most 8 rounds: every primary comparison has a verdict" in text
    assert "98.68%" in text
    assert "over 5 rounds" in text


def test_an_open_run_has_all_rounds_and_is_extended_with_the_command_of_its_report(
    invented: Path,
) -> None:
    scene = Scene(invented, OPEN, 0.05)
    run = scene.run(*UNTIL).directory
    first = analyse(run)
    assert first.ending is not None
    assert (first.ending.rounds, first.ending.decided) == (8, False)
    assert first.extension is not None
    assert first.extension.command == f"tare run x.yaml --rounds {first.extension.rounds}"
    before = {p: p.read_bytes() for p in (run / "trials").rglob("*") if p.is_file()}
    again = scene.run("design.until=decided", "design.deployments=10", extend=True)
    assert again.directory == run
    assert all(path.read_bytes() == content for path, content in before.items())
    looks = read_looks(run / "looks.json").looks
    assert [(one.round, one.of, one.why) for one in looks] == [
        (5, 8, "planned"),
        (8, 8, "end"),
        (10, 10, "end"),
    ]
    text = render_markdown(analyse(run))
    assert "after all 10 rounds" in text
    assert "withdrawn" in text


def test_a_run_that_was_killed_before_its_report_is_not_measured_anew(
    invented: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_run.clean, "find", lambda _: cli_run.clean.Leftovers())
    scene = Scene(invented, CLEAR, 0.003)
    first = scene.run(*UNTIL)
    before = (first.directory / "journal.jsonl").read_bytes()
    again = scene.run(*UNTIL)
    assert (again.directory, again.done) == (first.directory, first.done)
    assert (first.directory / "journal.jsonl").read_bytes() == before
    cli_run.note_reported(first.directory)
    assert scene.run(*UNTIL).directory.name == f"{first.directory.name}-2"


class Gone:
    """A watcher whose terminal was closed."""

    def update(self, progress: object) -> None:
        raise SystemExit(1)

    def say(self, text: str) -> None:
        raise OSError("Input/output error")


def test_a_terminal_that_is_gone_does_not_keep_a_run_from_cleaning_up(
    invented: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []

    class RunResources(NoResources):
        def close(self) -> list[Any]:
            closed.append("closed")
            return ["a container"]

    def ended(self: Lab, *_: object) -> int:
        self._watcher = Gone()
        raise KeyboardInterrupt

    monkeypatch.setattr(lab_run, "prepare", lambda *_: RunResources())
    monkeypatch.setattr(Lab, "_rounds", ended)
    monkeypatch.setattr(Lab, "_sweep", lambda _, why: closed.append(why))
    with pytest.raises(KeyboardInterrupt):
        Scene(invented, CLEAR, 0.003).run(*UNTIL)
    assert closed[-2:] == ["closed", "removing what could not be stopped"]
    assert not list((invented / "runs").glob("*/work"))
