"""The judge of the campaign of faults: each promise that is broken on purpose is found."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from bench.faults import ours
from bench.faults.decoys import Decoys
from bench.faults.invariants import Invariants
from bench.faults.ours import Seen
from bench.faults.scene import Command, Engine, Scene
from bench.faults.strikes import Strike

from tests.synthetic_run import write_run

KILLED = Strike("kill", "native java", 0.0)


@pytest.fixture
def invariants(tmp_path: Path) -> Iterator[Invariants]:
    """A run with finished trials, seen once, among the things of others."""
    scene = Scene(tmp_path, engine=Engine())
    write_run(scene.runs / "r1", deployments=1, blocks=1)
    with Decoys(scene.runs, engine=False).standing() as decoys:
        judge = Invariants(scene, decoys, ours.see(scene.runs))
        assert judge.after(ended(scene, "true"), [KILLED], Seen()) == []
        yield judge


def ended(scene: Scene, script: str) -> Command:
    """A command that has ended, as one of Tare's would have."""
    output = scene.root / "said.txt"
    with output.open("wb") as file:
        process = subprocess.Popen(["sh", "-c", script], stdout=file, stderr=file)
        process.wait()
    return Command(process, output, "r1")


def found(judge: Invariants, script: str = "true") -> str:
    return "\n".join(judge.after(ended(judge.scene, script), [KILLED], Seen()))


def test_a_finished_trial_that_changes_by_one_byte(invariants: Invariants) -> None:
    trial = invariants.scene.runs / next(iter(invariants.trials))
    with (trial / "progress.jsonl").open("ab") as file:
        file.write(b" ")
    assert "is not as it was" in found(invariants)


def test_a_finished_trial_that_goes(invariants: Invariants) -> None:
    trial = invariants.scene.runs / next(iter(invariants.trials))
    trial.rename(trial.with_name(".gone"))
    assert "is not as it was: None" in found(invariants)


def test_operations_that_are_in_no_histogram(invariants: Invariants) -> None:
    trial = invariants.scene.runs / next(iter(invariants.trials))
    manifest = json.loads((trial / "manifest.json").read_text())
    manifest["clients"][0]["ok"] += 1
    manifest["clients"][0]["operations"][0]["ok"] += 1
    more = trial.with_name("D9-B01-native")
    trial.rename(more)
    (more / "manifest.json").write_text(json.dumps(manifest))
    assert "latencies" in found(invariants)


def test_a_stop_inside_a_trial_that_its_record_does_not_show(invariants: Invariants) -> None:
    trial = invariants.scene.runs / next(n for n in invariants.trials if n.endswith("native"))
    manifest = json.loads((trial / "manifest.json").read_text())
    middle = (manifest["measure_start"] + manifest["measure_end"]) / 2
    stop = replace(KILLED, kind="stop", at=middle, seconds=0.4)
    invariants.trials.clear()
    said = invariants.after(ended(invariants.scene, "true"), [stop], Seen())
    assert "stood still 0.4 s" in "\n".join(said)


def test_a_journal_that_is_shorter(invariants: Invariants) -> None:
    journal = invariants.scene.runs / "r1" / "journal.jsonl"
    journal.write_text('{"event": "run begun"}\n')
    found(invariants)
    journal.write_text("")
    assert "the journal lost lines" in found(invariants)


def test_a_process_that_is_left(invariants: Invariants) -> None:
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "TARE_RUN": "r1"}) as left:
        try:
            assert f"processes: sleep {left.pid}" in found(invariants)
        finally:
            left.kill()


def test_a_directory_that_is_left(invariants: Invariants) -> None:
    (invariants.scene.runs / "r1" / "work" / "d1-native-1-k1-n1").mkdir(parents=True)
    assert "r1/work" in found(invariants)


def test_a_weighing_need_not_look_into_the_directories_of_runs(invariants: Invariants) -> None:
    (invariants.scene.runs / "r1" / "work" / "d1-native-1-k1-n1").mkdir(parents=True)
    before = invariants.left()
    weighing = replace(ended(invariants.scene, "echo round 1 of 3: 7 ways"), name="")
    assert invariants.after(weighing, [], before) == []
    assert "r1/work" in "\n".join(invariants.after(weighing, [], Seen()))


def test_a_process_that_a_weighing_was_to_sweep_and_did_not(invariants: Invariants) -> None:
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "TARE_RUN": "weigh"}) as left:
        try:
            before = invariants.left()
            killed = ended(invariants.scene, "echo round 1 of 3: 7 ways; kill -9 $$")
            strike = replace(KILLED, statuses=(-signal.SIGKILL,))
            said = invariants.after(replace(killed, name=""), [strike], before)
            assert f"not removed by this one: processes: sleep {left.pid}" in "\n".join(said)
            early = ended(invariants.scene, "kill -9 $$")
            assert invariants.after(replace(early, name=""), [strike], before) == []
        finally:
            left.kill()


def test_a_temporary_directory_of_somebody_else_that_goes(invariants: Invariants) -> None:
    (notes,) = Path(tempfile.gettempdir()).glob(f"tare-weigh@mine.{os.getpid()}/notes")
    notes.unlink()
    assert "notes: was" in found(invariants)


def test_a_file_of_somebody_else_that_goes(invariants: Invariants) -> None:
    (invariants.scene.runs / "mine" / "work" / "thesis.tex").unlink()
    assert "thesis.tex: was" in found(invariants)


@pytest.mark.parametrize("script", ["exit 2", "exit 130", "kill -9 $$"])
def test_an_exit_status_that_nothing_explains(invariants: Invariants, script: str) -> None:
    assert "exit status" in found(invariants, script)


def test_a_traceback(invariants: Invariants) -> None:
    assert "a traceback" in found(invariants, "echo 'Traceback (most recent call last):'")


def test_a_command_heeds_a_hangup_though_the_campaign_runs_under_nohup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.faults.scene.TARE", "sleep")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        command = Scene(tmp_path, engine=Engine()).start("60")
    finally:
        signal.signal(signal.SIGHUP, before)
    while not Path(f"/proc/{command.process.pid}/cmdline").read_bytes().startswith(b"sleep"):
        assert command.process.poll() is None, command.said()  # env still becomes it
    command.process.send_signal(signal.SIGHUP)
    assert command.process.wait(10) == -signal.SIGHUP
