"""After which round a run ends: looks, time, and the extension of a finished run.

What a round measures is scripted here, by records that say nothing but "done".
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tare.errors import RecordError, UsageError
from tare.lab.directory import choose
from tare.lab.extension import choose_extended
from tare.lab.journal import Journal
from tare.lab.progress import Silent
from tare.lab.run import Lab
from tare.lab.stopping import seconds_spent
from tare.records import run_prices
from tare.records.layout import RunFiles
from tare.records.looks import Look, read_looks, write_looks
from tare.records.run_prices import RunPrices
from tare.study.plan import make_plan
from tare.study.read import load_study
from tests.analysis.test_operation_lines import parts
from tests.lab.scripted_lab import TEXT, without_resources
from tests.priced_ways import BRIDGE

if TYPE_CHECKING:
    from pathlib import Path

    from tare.lab.directory import RunDirectory
    from tare.records.looks import Why
    from tare.study.plan import Round


class Scripted(Lab):
    """A lab whose rounds take `seconds` each and write empty records."""

    done: list[int]
    now = 0.0
    seconds = 60.0

    def _round(self, turn: Round, resources: Any) -> None:
        self.done.append(turn.index)
        Scripted.now += self.seconds
        for trial in self._pending(turn):
            record = self._directory.files.trial(trial.name)
            record.root.mkdir()
            record.manifest.write_text(json.dumps({"status": "done"}))
            self._done.add(trial.name)


class Scene:
    """Runs of one study, with a judge who finds it decided after some rounds."""

    def __init__(self, tmp_path: Path) -> None:
        self.runs = tmp_path / "runs"
        self.source = tmp_path / "small.yaml"
        self.source.write_text(TEXT)
        self.asked: list[tuple[int, Why]] = []
        self.decided: set[int] = set()
        self.said: list[str] = []

    def run(
        self, *overrides: str, extend: bool = False, stop: int = 0, **kept: Any
    ) -> RunDirectory:
        """One session; with `stop`, interrupted when that round is over.

        Args:
            kept: prices that it begins with.
        """
        study = load_study(self.source, list(overrides))
        plan = make_plan(study)
        find = choose_extended if extend else choose
        directory = find(self.runs, study, None)
        watcher = Silent(self.said)

        def judge(round_: int, why: Why) -> Look:
            self.asked.append((round_, why))
            if round_ == stop:
                raise KeyboardInterrupt
            look = Look(round=round_, of=len(plan.rounds), why=why, decided=round_ in self.decided)
            file = directory.files.looks
            write_looks(file, read_looks(file).with_look(look))
            return look

        lab = Scripted(
            plan, directory, self.source, watcher, clock=lambda: Scripted.now, judge=judge, **kept
        )
        lab.done = self.rounds = []
        lab.run()
        return directory

    def events(self, directory: RunDirectory, kind: str) -> list[dict[str, Any]]:
        return [e for e in Journal(directory.files.journal).events() if e["event"] == kind]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    without_resources(monkeypatch)
    return Scene(tmp_path)


DECIDED = ("design.until=decided", "design.deployments=8")


def test_a_run_of_rounds_asks_nobody(scene: Scene) -> None:
    directory = scene.run("design.deployments=4")
    assert (scene.rounds, scene.asked) == ([1, 2, 3, 4], [])
    assert not directory.files.looks.exists()


def test_a_run_until_decided_ends_at_the_planned_look(scene: Scene) -> None:
    scene.decided = {5}
    directory = scene.run(*DECIDED)
    assert scene.rounds == [1, 2, 3, 4, 5]
    (look,) = scene.events(directory, "look")
    assert (look["round"], look["fraction"], look["decided"]) == (5, 0.625, True)
    (finished,) = scene.events(directory, "run finished")
    assert finished["rounds"] == 5


def test_an_undecided_run_has_all_its_rounds_and_a_look_at_the_end(scene: Scene) -> None:
    scene.run(*DECIDED)
    assert (scene.rounds[-1], scene.asked) == (8, [(5, "planned"), (8, "end")])


def test_being_decided_ends_a_run_only_at_a_look(scene: Scene) -> None:
    scene.decided = {3, 4, 6, 7}
    scene.run(*DECIDED)
    assert scene.rounds[-1] == 8


def test_an_interrupted_run_makes_the_same_looks_when_it_goes_on(scene: Scene) -> None:
    scene.decided = {5}
    with pytest.raises(KeyboardInterrupt):
        scene.run(*DECIDED, stop=5)
    directory = scene.run(*DECIDED)
    assert directory.resumed
    assert (scene.rounds, scene.asked) == ([], [(5, "planned"), (5, "planned")])
    assert len(scene.events(directory, "look")) == 1


def test_no_round_is_begun_that_would_end_too_late(scene: Scene) -> None:
    directory = scene.run("design.deployments=8", "design.at_most=200s")
    assert (scene.rounds, scene.asked) == ([1, 2, 3], [(3, "time")])
    assert scene.events(directory, "run finished")[0]["rounds"] == 3


def test_the_first_round_is_always_begun(scene: Scene) -> None:
    scene.run("design.deployments=8", "design.at_most=1s")
    assert scene.rounds == [1]


def test_a_finished_run_is_extended_and_its_trials_stay_as_they_are(scene: Scene) -> None:
    first = scene.run("design.deployments=4")
    before = {p: p.read_bytes() for p in first.files.trials.rglob("*") if p.is_file()}
    old = json.loads(first.files.plan.read_text())["rounds"]
    second = scene.run("design.deployments=6", extend=True)
    assert second.files.root == first.files.root
    assert scene.rounds == [5, 6]
    assert all(path.read_bytes() == content for path, content in before.items())
    plan = json.loads(second.files.plan.read_text())
    assert plan["rounds"][:4] == old
    assert len(plan["rounds"]) == 6
    assert load_study(second.files.study).design.deployments == 6
    (extended,) = scene.events(second, "run extended")
    assert (extended["ended"], extended["rounds"]) == (4, 6)
    looks = read_looks(second.files.looks).looks
    assert [(one.round, one.of, one.why) for one in looks] == [(4, 4, "end"), (6, 6, "end")]


def test_an_interrupted_extension_goes_on_with_the_same_command(scene: Scene) -> None:
    scene.run("design.deployments=4")
    with pytest.raises(KeyboardInterrupt):
        scene.run("design.deployments=6", extend=True, stop=6)
    directory = scene.run("design.deployments=6", extend=True)
    assert (scene.rounds, directory.ended) == ([], 4)
    assert len(scene.events(directory, "run extended")) == 1
    assert len(scene.events(directory, "run finished")) == 2


def test_an_extended_run_can_be_extended_again(scene: Scene) -> None:
    scene.run("design.deployments=4")
    scene.run("design.deployments=6", extend=True)
    directory = scene.run("design.deployments=9", extend=True)
    assert scene.rounds == [7, 8, 9]
    assert [one.round for one in read_looks(directory.files.looks).looks] == [4, 6, 9]


def test_a_run_that_was_decided_early_keeps_its_look_when_extended(scene: Scene) -> None:
    scene.decided = {5}
    scene.run(*DECIDED)
    directory = scene.run("design.until=decided", "design.deployments=16", extend=True)
    assert scene.rounds == list(range(6, 17))
    looks = read_looks(directory.files.looks).looks
    assert [(one.round, one.of) for one in looks] == [(5, 8), (10, 16), (16, 16)]


def test_only_a_finished_run_of_the_same_study_is_extended(scene: Scene) -> None:
    with pytest.raises(UsageError, match="no run to extend"):
        scene.run("design.deployments=6", extend=True)
    scene.run("design.deployments=4")
    with pytest.raises(UsageError, match="no run to extend"):
        scene.run("design.deployments=6", "load.threads=8", extend=True)
    with pytest.raises(UsageError, match="4 rounds already"):
        scene.run("design.deployments=4", extend=True)


def test_time_counts_while_sessions_worked() -> None:
    at = "2026-01-01T00:{:02}:00+00:00"
    kinds = {0: "run begun", 10: "trial done", 30: "run resumed", 35: "trial done"}
    events = [{"at": at.format(minute), "event": kind} for minute, kind in kinds.items()]
    assert seconds_spent(events) == 15 * 60
    later = {40: "run extended", 44: "trial done"}
    events += [{"at": at.format(minute), "event": kind} for minute, kind in later.items()]
    assert seconds_spent(events) == 4 * 60


def test_a_run_that_could_not_keep_all_its_prices_gets_all_of_them_when_it_goes_on(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that has prices of ways gets none of system calls, either."""

    def full(*_: object) -> None:
        raise RecordError("no space left on device")

    monkeypatch.setattr(run_prices, "keep_parts", full)
    with pytest.raises(RecordError):
        scene.run(prices=RunPrices(BRIDGE, parts=[parts()]))
    assert not RunFiles(scene.runs / "small").prices.exists()
