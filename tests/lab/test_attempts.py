"""Each failed attempt of a trial leaves its own record, however often the run is resumed."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tare.errors import RuntimeUnavailableError, TareError
from tare.lab import run as lab_run
from tare.lab.directory import choose, done_trials, last_failed
from tare.lab.journal import Journal
from tare.lab.progress import Silent
from tare.lab.run import Lab
from tare.records.layout import RunFiles
from tare.study.plan import make_plan
from tare.study.read import load_study
from tests.lab.scripted_lab import TEXT, measured, without_resources

if TYPE_CHECKING:
    from pathlib import Path

    from tare.study.plan import PlannedTrial, Round


class BrokenFleet:
    """Making a deployment always fails, each time for another reason."""

    failures = 0

    def take(self, trial: PlannedTrial) -> Any:
        BrokenFleet.failures += 1
        raise TareError(f"failure {BrokenFleet.failures}")

    def distrust(self, trial: PlannedTrial) -> None: ...
    def after_trial(self, trial: PlannedTrial, more: list[PlannedTrial]) -> None: ...
    def after_block(self) -> None: ...


class KilledAtItsEnd(Lab):
    """Tries the native trial of a round, and is then killed."""

    def _round(self, turn: Round, resources: Any) -> None:
        natives = [trial for trial in self._pending(turn) if trial.condition == "native"]
        self._block(natives, BrokenFleet(), resources)  # type: ignore[arg-type]
        raise KeyboardInterrupt


def session(tmp_path: Path) -> RunFiles:
    """One `tare run` of the study."""
    source = tmp_path / "small.yaml"
    source.write_text(TEXT)
    study = load_study(source)
    directory = choose(tmp_path / "runs", study, None)
    with pytest.raises(KeyboardInterrupt):
        KilledAtItsEnd(make_plan(study), directory, source, Silent()).run()
    return directory.files


@pytest.fixture(autouse=True)
def without_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BrokenFleet, "failures", 0)
    without_resources(monkeypatch)
    monkeypatch.setattr(lab_run, "await_runtimes", lambda *_: None)


def test_a_resumed_run_keeps_the_attempts_that_failed_before(tmp_path: Path) -> None:
    session(tmp_path)
    files = session(tmp_path)
    told = {
        path.name: json.loads((path / "manifest.json").read_text())
        for path in files.trials.iterdir()
    }
    assert {name: (m["attempt"], m["reason"]) for name, m in told.items()} == {
        f"D1-B01-native.failed-{number}": (number, f"failure {number}") for number in (1, 2, 3, 4)
    }
    failed = [e for e in Journal(files.journal).events() if e["event"] == "trial failed"]
    assert [event["attempt"] for event in failed] == [1, 2, 3, 4]


def test_attempts_are_counted_by_the_last_and_of_this_trial_alone(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    assert last_failed(files, "D1-B01-native") == 0
    for name in (
        *("D1-B01-native", "D1-B01-native.failed-2", "D1-B01-native.failed-10"),
        *("D1-B01-native.failed-x", "D1-B01-native-2.failed-11", ".D1-B01-native.partial"),
    ):
        (files.trials / name).mkdir(parents=True)
    assert last_failed(files, "D1-B01-native") == 10


class Together(Lab):
    """Measures the trials of a round in slices, the container's first."""

    def _round(self, turn: Round, resources: Any) -> None:
        trials = sorted(self._pending(turn), key=lambda trial: trial.condition)
        self._sliced_block(trials, BrokenFleet(), resources)  # type: ignore[arg-type]

    def _runs_together(self, trials: list[PlannedTrial], *_: Any) -> Any:
        return {trial.name: (SimpleNamespace(deployment=None), None) for trial in trials}


def test_a_good_trial_is_kept_where_its_partner_s_runtime_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "small.yaml"
    source.write_text(TEXT)
    plan = make_plan(load_study(source))
    docker, native = sorted((t for t in plan.trials if t.round == 1), key=lambda t: t.condition)
    performed: list[str] = []

    class Died:
        """The engine dies in each attempt."""

        def __init__(self, runs: dict[str, Any], *_: Any) -> None:
            performed.append(",".join(runs))

        def perform(self) -> dict[str, Any]:
            return {docker.name: TareError("it died"), native.name: measured(plan, native)}

    def gone_after_the_last(*_: Any) -> None:
        if len(performed) == lab_run.ATTEMPTS:
            raise RuntimeUnavailableError("the run cannot go on", where="docker")

    monkeypatch.setattr(lab_run, "SlicedBlock", Died)
    monkeypatch.setattr(lab_run, "await_runtimes", gone_after_the_last)
    directory = choose(tmp_path / "runs", plan.study, None)
    with pytest.raises(RuntimeUnavailableError):
        Together(plan, directory, source, Silent()).run()
    assert performed == [f"{docker.name},{native.name}"] * lab_run.ATTEMPTS
    assert done_trials(directory.files) == {native.name}
    assert last_failed(directory.files, docker.name) == lab_run.ATTEMPTS
